# The bot as one non-root process. Dependencies come from the hashed lock, and everything is compiled.
FROM python:3.11-slim AS build
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/countersign
COPY requirements.txt .
RUN /opt/countersign/bin/pip install --require-hashes --requirement requirements.txt
COPY . .
RUN /opt/countersign/bin/pip install --no-deps --no-build-isolation . \
    && /opt/countersign/bin/python -m compileall -q /opt/countersign/lib

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home --home-dir /srv/countersign countersign \
    && install -d -o countersign -g countersign -m 0700 /srv/countersign/var
COPY --from=build /opt/countersign /opt/countersign
ENV PATH=/opt/countersign/bin:$PATH PYTHONDONTWRITEBYTECODE=1 COUNTERSIGN_HTTP_BIND=0.0.0.0:8402
WORKDIR /srv/countersign
USER countersign
VOLUME /srv/countersign/var
EXPOSE 8402
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8402/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["countersign"]
CMD ["run"]
