"""How far back a start reads what Countersign posted, each channel by itself."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.services.older_copies.messages_in_slack import Wanted
from handlers.slack_api.posted_messages import posted_messages
from handlers.slack_api.publish import EVENT_TYPE

PAGE = 200


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


class Client:
    """Slack's answers: per channel the messages, the newest first, each a time and the id of one of ours; or an
    error."""

    def __init__(self, channels: dict[str, list[tuple[int, str]] | str]) -> None:
        self.channels = channels
        self.pages = dict.fromkeys(channels, 0)

    async def auth_test(self) -> dict[str, Any]:
        return {"bot_id": "B1"}

    async def conversations_history(self, *, channel: str, cursor: str | None, **_: Any) -> dict[str, Any]:
        self.pages[channel] += 1
        messages = self.channels[channel]
        if isinstance(messages, str):
            raise SlackApiError("refused", {"ok": False, "error": messages})  # type: ignore[no-untyped-call]
        first = int(cursor or 0)
        shown, left = messages[first : first + PAGE], messages[first + PAGE :]
        more = {"next_cursor": str(first + PAGE)} if left else {}
        return {"messages": [_message(*one) for one in shown], "response_metadata": more}


def _message(seconds: int, dedupe: str) -> dict[str, Any]:
    if not dedupe:
        return {"ts": f"{seconds}.000001", "user": "U0BOB"}
    payload = {"instance": "i", "dedupe": dedupe, "log_end": f"end of {dedupe}"}
    return {
        "ts": f"{seconds}.000001",
        "bot_id": "B1",
        "metadata": {"event_type": EVENT_TYPE, "event_payload": payload},
    }


def people(until: int, count: int) -> list[tuple[int, str]]:
    return [(until - n, "") for n in range(count)]


def wanted(*channels: str, back_to: dict[str, datetime] | None = None) -> Wanted:
    async def is_of_before(dedupes: Collection[str]) -> bool:
        return any(one.startswith("before") for one in dedupes)

    return Wanted(channels, back_to or {}, is_of_before)


async def read(client: Client, want: Wanted) -> Any:
    return await posted_messages(client, want, "i")  # type: ignore[arg-type]


async def test_a_message_of_ours_since_the_start_does_not_end_the_reading() -> None:
    """What was posted while sending waited says nothing of the messages before it."""
    history = [
        (9000, "since:1"),
        *people(8999, 250),
        (8000, "lost:1"),
        *people(7999, 300),
        (7000, "before:1"),
    ]
    client = Client({"C1": [*history, *people(6999, 1000)]})

    found = await read(client, wanted("C1"))

    assert [one.dedupe for one in found.messages] == ["since:1", "lost:1", "before:1"]
    assert (client.pages["C1"], list(found.cut)) == (3, [])


async def test_what_the_message_was_drawn_with_is_read_with_it() -> None:
    (message,) = (await read(Client({"C1": [(5, "before:1")]}), wanted("C1"))).messages
    assert (message.log_end, message.at) == ("end of before:1", datetime.fromtimestamp(5.000001, UTC))


async def test_the_cards_of_what_is_open_are_read_however_far_back_they_are() -> None:
    history = [(9000, "before:1"), *people(8999, 450), (8000, "before:card"), *people(7999, 1000)]
    client = Client({"C1": history})

    near = await read(client, wanted("C1"))
    far = await read(client, wanted("C1", back_to={"C1": at(8001)}))

    assert [one.dedupe for one in near.messages] == ["before:1"]
    assert [one.dedupe for one in far.messages] == ["before:1", "before:card"]


@pytest.mark.parametrize("error", ["not_in_channel", "missing_scope", "ratelimited"])
async def test_a_channel_that_cannot_be_read_hides_nothing_of_the_other(error: str) -> None:
    client = Client({"C1": error, "C2": [(9, "lost:1"), (8, "before:1")]})

    found = await read(client, wanted("C1", "C2"))

    assert [one.dedupe for one in found.messages] == ["lost:1", "before:1"]
    assert found.unread == {"C1": error}


async def test_what_is_behind_too_many_messages_of_people_is_said_not_to_be_read() -> None:
    client = Client({"C1": people(9000, 2100), "C2": people(9000, 1900)})

    found = await read(client, wanted("C1", "C2"))

    assert (list(found.cut), client.pages["C1"]) == (["C1"], 10)
