"""The second net: what is secret or personal does not reach the log, whoever logs it and however."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from freezegun import freeze_time
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.config import Settings
from bot.log import configure
from bot.partner.secret import Secret
from bot.slack_connection import bolt_app

SECRETS = {
    "partner key": "svc_live_8f3kq0Zx-1",
    "webhook secret": "whsec_c2VjcmV0LXNlY3JldA==",
    "bot token": "xoxb-12-34-abcDEF",
    "app token": "xapp-1-A1-22-ffee",
    "email": "alice.moreau@example.com",
    "phone": "+44 20 7946 0958",
    "card number": "4111 1111 1111 1111",
    "link to card details": "https://countersign.example.com/details#hunter22",
    "database password": "postgresql://bot:hunter22@db/countersign",
}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure("json", stream=stream, level=logging.DEBUG)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def visible(secret: str) -> str:
    """The part of the sample that must not be seen."""
    return "hunter22" if "hunter22" in secret else secret


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_hidden_wherever_it_is_put(log: io.StringIO, secret: str) -> None:
    ours = logging.getLogger("bot.test")
    ours.info(f"said {secret} aloud")
    ours.info("field", extra={"answer": secret, "nested": {"deep": [secret]}, "error": ValueError(secret)})
    logging.getLogger("slack_bolt.App").error("foreign %s", secret, extra={"answer": secret})
    try:
        raise ValueError(f"trouble with {secret}")
    except ValueError:
        ours.exception("failed")

    written = log.getvalue()

    assert len(written.splitlines()) == 4
    assert visible(secret) not in written


@pytest.mark.parametrize(
    "text", ["phone=442079460958", '{"email": "442079460958"}', "X-API-Key: 442079460958"]
)
def test_a_value_after_a_telling_name_is_hidden(log: io.StringIO, text: str) -> None:
    logging.getLogger("bot.test").warning(text)

    line = json.loads(log.getvalue())

    assert "[hidden]" in line["event"]
    assert "442079460958" not in line["event"]


def test_a_field_with_a_telling_name_is_hidden_whatever_it_holds(log: io.StringIO) -> None:
    shown = {"phone": "12", "api_key": "k", "details_url": "u", "wrapped": Secret("deep")}
    logging.getLogger("bot.test").info("x", extra=shown)

    line = json.loads(log.getvalue())

    assert line["phone"] == line["api_key"] == line["details_url"] == "[hidden]"
    assert line["wrapped"] == "<secret>"


def test_what_operators_need_stays_readable(log: io.StringIO) -> None:
    shown = {
        "request": "R-7K3M",
        "prefix": "svc_live_0a1b2c3d",
        "state": "succeeded",
        "amount_usd": "1250.00",
        "ts": "1763680000.123456",
        "n": 3,
    }
    logging.getLogger("bot.engine").info("request.moved", extra=shown)

    line = json.loads(log.getvalue())

    assert line["request"] == "R-7K3M"
    assert line["prefix"] == "svc_live_0a1b2c3d"
    assert line["amount_usd"] == "1250.00"
    assert line["ts"] == "1763680000.123456"
    assert line["n"] == 3
    assert line["logger"] == "bot.engine"


def test_what_the_standard_library_takes_as_extra_is_written(log: io.StringIO) -> None:
    logging.getLogger("countersign.app").warning("loop failed", extra={"loop": "outbox", "phone": "12"})

    line = json.loads(log.getvalue())

    assert line["event"] == "loop failed"
    assert line["loop"] == "outbox"
    assert line["phone"] == "[hidden]"


def test_libraries_that_log_payloads_are_capped(log: io.StringIO) -> None:
    for name in ("httpx", "httpcore.http11", "aiohttp.access", "slack_sdk.web", "slack_bolt"):
        logging.getLogger(name).info("a header or a payload")

    assert log.getvalue() == ""


def test_a_library_that_sets_its_own_level_stays_capped(log: io.StringIO) -> None:
    bolt = logging.getLogger("slack_bolt.AsyncApp")
    bolt.setLevel(logging.DEBUG)
    try:
        bolt.info("the payload of a form")
        bolt.warning("what went wrong")
    finally:
        bolt.setLevel(logging.NOTSET)

    assert "payload" not in log.getvalue()
    assert "what went wrong" in log.getvalue()


def test_a_line_bears_the_moment_it_was_said_in_utc_whoever_logged_it(log: io.StringIO) -> None:
    with freeze_time("2026-03-28T23:30:05.25Z") as machine:
        logging.getLogger("countersign.web").info("ours")
        machine.tick(3600)
        logging.getLogger("countersign.app").warning("of the standard library")

    stamps = [json.loads(line)["timestamp"] for line in log.getvalue().splitlines()]
    assert stamps == ["2026-03-28T23:30:05.250000Z", "2026-03-29T00:30:05.250000Z"]


def test_on_a_terminal_a_line_begins_with_the_time_of_day(log: io.StringIO) -> None:
    terminal = io.StringIO()
    configure("console", stream=terminal)
    with freeze_time("2026-03-28T23:30:05Z"):
        logging.getLogger("countersign.web").info("at night")

    assert terminal.getvalue().startswith("23:30:05 ")
    assert log.getvalue() == ""


async def test_bolt_changes_the_level_of_no_logger_of_ours() -> None:
    """Each request makes Bolt set the level of a logger of the app's name: by a name of ours, our lines are gone."""
    settings = Settings.model_construct(slack_app_token=None, slack_signing_secret=Secret("s" * 32))
    app = bolt_app(settings, AsyncWebClient("xoxb-1", base_url="http://127.0.0.1:1/api/"))

    await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body={"ssl_check": "1"}))

    ours = [
        n for n in logging.Logger.manager.loggerDict if n == "countersign" or n.startswith("countersign.")
    ]
    assert [name for name in ours if logging.getLogger(name).level != logging.NOTSET] == []
