"""Five tests of the lunch bot: people use it in the sandbox, and see what it says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from lunch import lunch_app
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient


@pytest.fixture(scope="session")
def slack_manifest() -> Path:
    return Path(__file__).with_name("manifest.yml")


@pytest.fixture(scope="module")
def bot(slack_server) -> Iterator[None]:
    app = lunch_app(
        WebClient(slack_server.bot_token, base_url=slack_server.api_url), slack_server.signing_secret
    )
    handler = SocketModeHandler(app, slack_server.app_token)
    handler.connect()
    slack_server.wait_for_connection()
    yield
    handler.client.auto_reconnect_enabled = False
    slack_server.end_connections()
    # slack_sdk's own close fails where its connection goes at that very moment
    with suppress(AttributeError):
        handler.close()


@pytest.fixture(autouse=True)
def slack(bot, slack_sandbox):
    return slack_sandbox


def test_a_command_with_a_place_asks_in_the_channel(slack):
    assert slack.act.command("/lunch Noodle Bar")["acked"]
    slack.wait_for_message("Lunch at *Noodle Bar*?")


def test_a_command_without_a_place_opens_a_form_that_asks(slack):
    slack.act.command("/lunch")
    form = slack.wait_for_modal()
    slack.act.submit(form["id"], place={"name": "Taqueria"})
    slack.wait_for_message("Taqueria")


def test_the_form_says_what_is_wrong_and_stays_open(slack):
    slack.act.command("/lunch")
    form = slack.wait_for_modal()
    answer = slack.act.submit(form["id"], place={"name": "nowhere"})
    assert answer["errors"] == {"place": "Nowhere is not a place."}
    assert slack.see()["views"]


def test_whoever_clicks_is_on_the_list_once(slack):
    slack.act.command("/lunch Noodle Bar")
    asked = slack.wait_for_message("Noodle Bar")
    for user in ("U0BOB", "U0BOB", "U0CAROL"):
        slack.act.click("come", user=user, channel="C0OPS", ts=asked["ts"])
    slack.wait_for_message("Coming: <@U0BOB>, <@U0CAROL>")


def test_a_mention_is_answered_in_a_thread(slack):
    slack.act.say("<@U0BOT> hello")
    said = slack.wait_for_message("Use /lunch")
    assert said["thread_ts"]
