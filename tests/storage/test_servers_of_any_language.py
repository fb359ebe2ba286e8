"""What a PostgreSQL server says of a connection that it refuses is a refusal in every language that it speaks, and what
is said of a server that is away is none."""

from __future__ import annotations

import gettext
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from bot.cli.terminal import ExitCode, explain
from bot.domain.time import SystemClock
from storage.database import Database
from storage.faults import explained, fault_of, in_words
from storage.store import Store
from tests.storage.restores import VAULT
from tests.support.own_postgres import Server

# Of Debian's packages, where they are here.
LOCALES, DEBIAN_S = Path("/usr/share/locale"), Path("/usr/lib/postgresql/15/bin")
REFUSALS = {
    'password authentication failed for user "%s"': "28P01",
    'database "%s" does not exist': "3D000",
    'role "%s" does not exist': "28000",
    "the database system is starting up": "57P03",
    "the database system is shutting down": "57P03",
    "sorry, too many clients already": "53300",
}
AWAY = (
    "Is the server running on that host and accepting TCP/IP connections?",
    "Is the server running locally and accepting connections on that socket?",
    "timeout expired",
    'could not translate host name "%s" to address: %s',
    "server closed the connection unexpectedly\n"
    "\tThis probably means the server terminated abnormally\n\tbefore or while processing the request.",
)
SEVERITIES = ("FATAL", "FATALE", "ВАЖНО", "致命错误", "치명적오류", "KATASTROFALNY", "ÖLÜMCÜL", "ПОМИЛКА")
SERVER = Database.parse("postgresql://me@db.example.com/state")


def translations(domain: str) -> Iterator[tuple[str, gettext.NullTranslations]]:
    yield "en", gettext.NullTranslations()
    for found in sorted(LOCALES.glob(f"*/LC_MESSAGES/{domain}.mo")):
        with found.open("rb") as file:
            yield found.parts[-3], gettext.GNUTranslations(file)


def error_of(said: str) -> OperationalError:
    head = 'connection failed: connection to server at "10.0.0.1", port 5432 failed: '
    return OperationalError("SELECT 1", {}, psycopg.OperationalError(head + said))


FOR_GOOD = ("28P01", "28000", "3D000")


def filled(text: str) -> str:
    return text.replace("%s", "x")


@pytest.fixture
def _runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_words, "_is_starting", lambda _database: False)


@pytest.mark.usefixtures("_runs")
def test_a_server_that_refuses_in_whatever_language_has_answered_and_is_tried_again_unless_it_says_why() -> (
    None
):
    """What nobody here knows may be a server that is full or going away."""
    sentences = {
        (language, text): f"{translated.gettext('FATAL')}:  {filled(translated.gettext(text))}"
        for language, translated in translations("postgres-15")
        for text in REFUSALS
    }
    sentences |= {(severity, ""): f"{severity}:  …" for severity in SEVERITIES}
    for (language, text), said in sentences.items():
        fault = fault_of(error_of(said), SERVER)
        assert fault is not None
        assert "does not answer" not in str(fault), said
        assert explained(error_of(said), SERVER) == str(fault)
        sentence, code = explain(fault) or ([], None)
        by_its_words = in_words.in_a_sentence(REFUSALS.get(text, ""), SERVER)
        assert "log of the database server has the reason" in sentence[0] or sentence == [by_its_words], said
        is_for_good = in_words.fault_found(error_of(said), SERVER) in FOR_GOOD
        assert code is (ExitCode.UNUSABLE if is_for_good else ExitCode.NOT_WELL), said
        if language == "en" and text:
            assert is_for_good == (REFUSALS[text] in FOR_GOOD), said


@pytest.mark.usefixtures("_runs")
def test_a_server_that_is_away_has_refused_nothing_in_whatever_language_the_library_says_it() -> None:
    for _, translated in translations("libpq5-15"):
        for text in AWAY:
            fault = fault_of(error_of(filled(translated.gettext(text))), SERVER)
            assert fault is not None
            assert "does not answer" in str(fault), text
            assert (explain(fault) or ([], None))[1] is ExitCode.NOT_WELL


def test_a_server_that_is_only_starting_is_waited_for_in_whatever_language_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_words, "_is_starting", lambda _database: True)
    fault = fault_of(error_of("FATAL:  das Datenbanksystem startet"), SERVER)
    assert "is starting up" in str(fault)
    assert fault is not None
    assert (explain(fault) or ([], None))[1] is ExitCode.NOT_WELL


async def test_a_start_at_a_server_that_speaks_german_is_refused_with_where_the_reason_is_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not (DEBIAN_S / "postgres").exists() or not (LOCALES / "de/LC_MESSAGES/postgres-15.mo").exists():
        pytest.skip("no PostgreSQL that speaks German is installed")
    monkeypatch.setenv("LANGUAGE", "de")
    folder = Path(tempfile.mkdtemp(prefix="pgde", dir="/tmp"))
    server = Server(folder / "pg", DEBIAN_S)
    with (server.folder / "postgresql.conf").open("a") as settings:
        settings.write("lc_messages = 'C.utf8'\n")
    (server.folder / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
    try:
        server.start()
        with closing(psycopg.connect(server.url, autocommit=True)) as admin:
            admin.execute("CREATE ROLE cs LOGIN PASSWORD 'right'")
        url = make_url(server.url)
        refused = {
            "a wrong password": url.set(username="cs", password="wrong"),
            "no such database": url.set(database="nope"),
            "no such role": url.set(username="nobody", password="x"),
        }
        for what, address in refused.items():
            text = address.render_as_string(hide_password=False)
            with pytest.raises(Exception) as raised:
                await Store.open(text, vault=VAULT, clock=SystemClock())
            error = raised.value
            assert isinstance(error, Exception)
            sentence, code = explain(error) or ([], None)
            assert code is ExitCode.NOT_WELL, (what, sentence, error)
            assert "does not answer" not in sentence[0], what
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    assert os.environ["LANGUAGE"] == "de"
