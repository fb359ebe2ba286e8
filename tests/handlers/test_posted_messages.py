"""How far back a start reads what Countersign posted, each channel by itself."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.services.older_copies.messages_in_slack import Wanted
from bot.services.processes.unseen_requests import GONE, NOT_REACHED, Place
from handlers.slack_api.posted_messages import posted_messages
from handlers.slack_api.publish import EVENT_TYPE

PAGE = 200


def ts(seconds: int) -> str:
    return f"{seconds}.000001"


class Client:
    """Slack's answers: per channel the messages, the newest first, each a time and the id of one of ours; or an
    error."""

    def __init__(self, channels: dict[str, list[tuple[int, str]] | str]) -> None:
        self.channels = channels
        self.pages = dict.fromkeys(channels, 0)
        self.looks: list[tuple[str, str]] = []
        self.refuses_looks = ""

    async def auth_test(self) -> dict[str, Any]:
        return {"bot_id": "B1"}

    async def conversations_history(
        self, *, channel: str, cursor: str | None = None, latest: str = "", oldest: str = "", **_: Any
    ) -> dict[str, Any]:
        self.pages[channel] += 1
        messages = self.channels[channel]
        if isinstance(messages, str):
            raise SlackApiError("refused", {"ok": False, "error": messages})  # type: ignore[no-untyped-call]
        if latest:
            self.looks.append((latest, oldest))
            if self.refuses_looks:
                raise SlackApiError("refused", {"ok": False, "error": self.refuses_looks})  # type: ignore[no-untyped-call]
        upper, lower = float(latest or "inf"), float(oldest or 0)
        messages = [one for one in messages if lower <= float(ts(one[0])) <= upper]
        first = int(cursor or 0)
        shown, left = messages[first : first + PAGE], messages[first + PAGE :]
        more = {"next_cursor": str(first + PAGE)} if left else {}
        return {"messages": [_message(*one) for one in shown], "response_metadata": more}


def _message(seconds: int, dedupe: str) -> dict[str, Any]:
    if not dedupe:
        return {"ts": ts(seconds), "user": "U0BOB"}
    if dedupe == "tombstone":  # of a deleted message that has a thread
        return {"ts": ts(seconds), "user": "USLACKBOT", "subtype": "tombstone"}
    is_by_other, dedupe = dedupe.startswith("B0:"), dedupe.removeprefix("B0:")
    instance, _, known = dedupe.rpartition("/")
    payload = {"instance": instance or "i", "dedupe": known, "log_end": f"end of {known}"}
    return {
        "ts": ts(seconds),
        "bot_id": "B0" if is_by_other else "B1",
        "metadata": {"event_type": EVENT_TYPE, "event_payload": payload},
    }


def people(until: int, count: int) -> list[tuple[int, str]]:
    return [(until - n, "") for n in range(count)]


def wanted(*channels: str, places: dict[str, Place] | None = None) -> Wanted:
    async def is_of_before(dedupes: Collection[str]) -> bool:
        return any(one.startswith("before") for one in dedupes)

    return Wanted(channels, places or {}, is_of_before)


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
    far = await read(client, wanted("C1", places={"R-1": Place("C1", ts(8000))}))

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


FAR = [(9000, "before:1"), *people(8999, 2150)]


async def test_the_message_of_a_request_is_looked_at_behind_any_number_of_others() -> None:
    """Its newest known message ended the reading after 2,000 others, and what became of the request was not seen."""
    client = Client({"C1": [*FAR, (6000, "lost:card"), *people(5999, 1000)]})

    found = await read(client, wanted("C1", places={"R-1": Place("C1", ts(6000))}))

    assert [one.dedupe for one in found.messages] == ["before:1", "lost:card"]
    assert (client.pages["C1"], client.looks, found.unseen) == (11, [(ts(6000), ts(6000))], {})


@pytest.mark.parametrize(
    "left", [[], [(6000, "tombstone")], [(6000, "")]], ids=["nothing", "thread", "a person's"]
)
@pytest.mark.parametrize("before", [[(9000, "before:1")], FAR], ids=["near", "far"])
async def test_a_message_that_is_not_there_any_more_is_not_seen(
    left: list[tuple[int, str]], before: list[tuple[int, str]]
) -> None:
    client = Client({"C1": [*before, *left, (5000, "before:card")]})
    places = {"R-1": Place("C1", ts(6000)), "R-2": Place("C1", ts(5000))}

    found = await read(client, wanted("C1", places=places))

    assert found.unseen == {"R-1": GONE}
    assert "before:card" in [one.dedupe for one in found.messages]


async def test_one_look_finds_all_that_are_near_and_there_are_not_many_of_them() -> None:
    near = [(6000 - n, f"before:{n}") for n in range(0, 60, 2)]
    apart = [*people(5900, 300), (5500, "before:a"), *people(5499, 300), (5100, "before:b")]
    client = Client({"C1": [*FAR, *near, *apart]})
    places = {f"R-{at}": Place("C1", ts(at)) for at, dedupe in [*near, *apart] if dedupe}

    found = await read(client, wanted("C1", places=places))

    assert (found.unseen, len(client.looks)) == ({}, 3)

    many = [
        one
        for n in range(40)
        for one in [(600_000 - n * 1000, f"before:{n}"), *people(599_999 - n * 1000, 300)]
    ]
    client = Client({"C1": [(9_000_000, "before:x"), *people(8_999_999, 2150), *many]})
    places = {f"R-{at}": Place("C1", ts(at)) for at, dedupe in many if dedupe}
    found = await read(client, wanted("C1", places=places))
    assert len(client.looks) == 20
    assert found.unseen == dict.fromkeys(list(places)[20:], NOT_REACHED), "the first ones matter most"


@pytest.mark.parametrize("error", ["not_in_channel", "channel_not_found", "ratelimited"])
async def test_a_message_that_slack_does_not_show_is_not_seen_wherever_it_is(error: str) -> None:
    client = Client({"C1": [(9, "before:1")], "C2": error, "D1": [(8, "before:2")], "D2": error})
    places = {f"R-{channel}": Place(channel, ts(8)) for channel in ("C2", "D1", "D2")}

    found = await read(client, wanted("C1", "C2", places=places))

    assert found.unseen == {"R-C2": error, "R-D2": error}
    assert "before:2" in [one.dedupe for one in found.messages]


async def test_a_look_that_is_refused_leaves_what_was_read() -> None:
    client = Client({"C1": [*FAR, (6000, "lost:card")]})
    client.refuses_looks = "ratelimited"
    found = await read(
        client, wanted("C1", places={"R-1": Place("C1", ts(6000)), "R-2": Place("C1", ts(9000))})
    )
    assert (found.unseen, found.unread) == ({"R-1": "ratelimited"}, {"C1": "ratelimited"})
    assert [one.dedupe for one in found.messages] == ["before:1"]


async def test_what_this_app_posted_for_another_installation_is_known_from_ours() -> None:
    client = Client({"C1": [(9, "other/1"), (8, "before:1")], "C2": [(9, "before:2"), (8, "")]})
    assert list((await read(client, wanted("C1", "C2"))).of_others) == ["C1"]


async def test_after_the_app_was_installed_again_its_messages_of_before_are_seen_at_their_places() -> None:
    """It has another id then. What others post elsewhere under our names is still not taken for ours."""
    client = Client({"C1": [(9, "B0:forged"), (7, "B0:a"), *people(6, 3)]})

    found = await read(client, wanted("C1", places={"R-1": Place("C1", ts(7)), "R-2": Place("C1", ts(5))}))

    assert found.unseen == {"R-2": GONE}
    assert [(one.dedupe, one.log_end) for one in found.messages] == [("a", "end of a")]
