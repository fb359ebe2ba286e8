# The bot as one non-root process. Dependencies come from the hashed lock, and everything is compiled.
FROM python:3.11.14-slim-bookworm AS build
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/countersign
COPY requirements.txt .
RUN /opt/countersign/bin/pip install --require-hashes --no-compile --requirement requirements.txt
COPY . .
RUN /opt/countersign/bin/pip install --no-deps --no-compile --no-build-isolation .
# What only builds, colours a terminal, tests the libraries or speaks to other databases stays here, with the symbols
# for debuggers, and the second copy of what compares texts. Then what the bot imports is compiled, and no more.
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
RUN /opt/countersign/bin/pip uninstall --quiet --yes rich markdown-it-py mdurl pygments setuptools pip \
    && cd /opt/countersign/lib/python3.*/site-packages \
    && rm -r sqlalchemy/testing alembic/testing sqlalchemy/dialects/mssql sqlalchemy/dialects/mysql \
        sqlalchemy/dialects/oracle PIL/_avif* pillow.libs/libavif* \
    && find rapidfuzz -name '*_avx2*' -delete \
    && find . -type d -name tests -prune -exec rm -r {} + \
    && find . -name '*.so' -exec strip --strip-unneeded {} + \
    && python -m compileall -q bot handlers storage sandbox \
    && TYPER_USE_RICH=0 /opt/countersign/bin/python -c \
        'import bot.app, bot.cli.demo, bot.cli.doctor, bot.cli.production, sandbox.partner.server, storage.migrate, psycopg_pool'

FROM python:3.11.14-slim-bookworm
RUN useradd --no-log-init --uid 10001 --create-home --home-dir /srv/countersign countersign \
    && install -d -o countersign -g countersign -m 0700 /srv/countersign/var /srv/countersign/anchors
COPY --from=build /opt/countersign /opt/countersign
ENV PATH=/opt/countersign/bin:$PATH PYTHONDONTWRITEBYTECODE=1 TYPER_USE_RICH=0 \
    COUNTERSIGN_HTTP_BIND=0.0.0.0:8402
WORKDIR /srv/countersign
USER countersign
VOLUME /srv/countersign/var
EXPOSE 8402
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8402/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["countersign"]
CMD ["run"]
