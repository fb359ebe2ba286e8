"""A request id is a link to the request's message, wherever Slack can show a link."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from slack_sdk.models.blocks import Block

from handlers.views import blocks as b
from handlers.views.request_links import linked, request_ids
from sandbox.slack.block_kit import limits
from tests.handlers.every_view import MESSAGES, VIEWS
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, Json, SlackDriver

ADDRESS = "https://example.slack.com/archives/C0APPROVALS/p1772442000000100"


ALL = {**MESSAGES, **VIEWS}


class Everywhere(dict[str, str]):
    """Every request has a message."""

    def __contains__(self, _: object) -> bool:
        return True

    def get(self, _: str, default: Any = None) -> Any:
        return ADDRESS

    def __missing__(self, _: str) -> str:
        return ADDRESS

    def __bool__(self) -> bool:
        return True


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", sorted(ALL))
def test_with_links_every_view_keeps_slacks_limits_and_says_the_same(name: str) -> None:
    for text in ("Team lunch", "see R-7777 " * 400):
        drawn = ALL[name](text)
        with_links = linked(drawn, Everywhere())
        _keeps_slacks_limits(name, with_links)
        assert words(with_links) == words(drawn), "a link adds no word and takes none"
    assert request_ids(linked(ALL[name]("Team lunch"), Everywhere())) == frozenset(), (
        "an id is left without its link"
    )


def _keeps_slacks_limits(name: str, with_links: Json) -> None:

    if name in MESSAGES:
        assert limits.message_complaints(with_links["blocks"]) == []
    else:
        assert limits.view_complaints(with_links, (with_links["type"],)) == []
        assert len(json.dumps(with_links)) < 250_000
    for block in with_links["blocks"]:
        if block["type"] != "data_visualization":  # Slack's SDK knows no charts
            parsed = Block.parse(block)
            assert parsed is not None
            parsed.to_dict()
    assert sum(map(b.weight, with_links["blocks"])) <= b.ALL_TEXT


def words(drawn: Json) -> str:
    """All that is read, without the addresses."""
    return re.sub(rf"<{ADDRESS}\|([^>]*)>", r"\1", " ".join(_texts(drawn["blocks"])).replace("\0", ""))


def _texts(value: Any) -> list[str]:
    match value:
        case {"type": "rich_text_section", "elements": list(elements)}:
            return ["".join(str(element["text"]) for element in elements)]
        case {"text": str(text)}:
            return [text]
        case dict():
            return [text for inner in value.values() for text in _texts(inner)]
        case list():
            return [text for inner in value for text in _texts(inner)]
    return []


def test_code_links_and_words_that_only_look_like_an_id_stay_as_they_are() -> None:
    text = f"`R-7777` <{ADDRESS}|R-7777> FR-7777 R-7777-2 r-7777, but R-7777."
    found = linked({"text": text, "blocks": []}, {"R-7777": ADDRESS})

    assert found["text"] == text.replace("but R-7777.", f"but <{ADDRESS}|R-7777>.")


async def permalink(driver: SlackDriver, request_id: str) -> str:
    card = await driver.card(request_id)
    found = await driver.client.chat_getPermalink(channel=APPROVALS, message_ts=card["ts"])
    return str(found["permalink"])


async def test_ids_are_links_to_where_slack_says_the_message_is(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    address = await permalink(driver, request.id)

    await driver.command(ALICE, "/requests all")
    assert address in str((await driver.shown_to(ALICE))["blocks"]), "in a list"

    await driver.command(BOB, f"/requests show {request.id}")
    assert address in str((await driver.shown_to(BOB))["blocks"]), "in the answer about it"

    assert address in str(await driver.home(BOB)), "on Home"


async def test_a_message_does_not_link_to_itself_and_one_that_names_another_links_there(
    driver: SlackDriver,
) -> None:
    first = await driver.ask_top_up()
    second = await driver.ask_top_up(reason="Hotel")
    address = await permalink(driver, first.id)

    assert "|R-" not in str((await driver.card(first.id))["blocks"])
    named = {"text": f"{second.id} waits for {first.id}", "blocks": []}
    assert linked(named, {first.id: address})["text"] == f"{second.id} waits for <{address}|{first.id}>"
