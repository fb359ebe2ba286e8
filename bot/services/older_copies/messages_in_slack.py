"""What Slack shows of our own messages, and how far back a start has to read for it.

A message of ours says where the audit log ended when it was drawn last: each redrawn card is an anchor of the log.
Whatever became of a request that an older copy has as waiting, its card says so: each of them is looked at, however far
back it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from bot.domain.requests import OPEN
from bot.services import message_kinds
from bot.services.core import SLACK, Core
from bot.services.processes import unseen_requests
from storage import audit
from storage.audit import Anchor
from storage.cards import api_snapshots
from storage.log_record import on_record
from storage.messages import outbox
from storage.operators import restored_copies
from storage.requests import requests
from storage.transaction import Tx

# Since when not all messages were read, and where the log ended then.
_UNREAD_SINCE = "slack_unread_since"
# The channels that the settings name and named, the last ones first.
_NAMED = "channels_named"
# Cards of so many open requests are looked for, the oldest first.
_CARDS_MOST = 500
# Apart from those that the settings name, channels in which messages of ours are.
_OTHER_CHANNELS_MOST = 5


class PostedMessage(NamedTuple):
    """`dedupe`: the id of the outbox row that drew it last. `at`: when, by Slack's clock, as far as Slack
    says that of an edit, else when it was posted. `log_end`: the
    anchor of the audit log that it was drawn with, in a line; empty in a message of before there was any."""

    dedupe: str
    at: datetime
    log_end: str = ""


@dataclass(frozen=True, slots=True)
class PostedMessages:
    """Our newest messages, and those at the places that were wanted. `unread`: channels that Slack did not give, each
    with its code or what else went wrong; `cut`: those in which so much was written that no message of before was
    reached. `unseen`: requests whose message was not seen, each with `GONE`, `NOT_REACHED` or as in `unread`.
    `of_others`: channels in which this app posted for another installation."""

    messages: Sequence[PostedMessage]
    unread: Mapping[str, str]
    cut: Collection[str] = ()
    unseen: Mapping[str, str] = field(default_factory=dict)
    of_others: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """`channels` to read, each back to a message that was posted before the start, as `is_of_before` says of the ids of
    outbox rows. `places` are looked at wherever they are: by the request, the one whose message matters most first."""

    channels: Collection[str]
    places: Mapping[str, unseen_requests.Place]
    is_of_before: Callable[[Collection[str]], Awaitable[bool]]


ReadPosted = Callable[[Wanted], Awaitable[PostedMessages]]


async def nothing_posted(_wanted: Wanted) -> PostedMessages:
    """Where nobody asks Slack."""
    return PostedMessages([], {})


def named_channels(core: Core) -> set[str]:
    """Those in which messages are posted, as they are called now: Slack may not have given them at the start."""
    return {one for one in (core.channels.approvals, core.channels.alerts) if one}


async def begin(core: Core) -> None:
    """At a start, before anything is posted. What is posted until all was read says nothing of what came before it: it
    is of this database, whatever the messages before it are of. So that is kept over further starts."""
    async with core.store.begin() as tx:
        kept, named = await _named_before(tx), sorted(named_channels(core))
        if kept[: len(named)] != named:
            channels = [*named, *(one for one in kept if one not in named)]
            await api_snapshots.put(tx, SLACK, _NAMED, channels[: len(named) + _OTHER_CHANNELS_MOST])
        if await api_snapshots.get(tx, SLACK, _UNREAD_SINCE) is None:
            sent_at, end = await outbox.last_sent_at(tx), await audit.head(tx)
            value = {"sent_at": sent_at.isoformat() if sent_at else "", "seq": end.seq}
            await api_snapshots.put(tx, SLACK, _UNREAD_SINCE, value)


async def end(core: Core) -> None:
    """All that is wanted was read."""
    async with core.store.begin() as tx:
        await api_snapshots.drop(tx, SLACK, _UNREAD_SINCE)


async def wanted(core: Core) -> Wanted:
    """As it is to be read now."""
    async with core.store.read() as tx:
        kept = await api_snapshots.get(tx, SLACK, _UNREAD_SINCE)
        places = await _places(tx)
        others, before = await outbox.channels(tx, limit=_OTHER_CHANNELS_MOST), await _named_before(tx)
    text = kept.value["sent_at"] if kept else ""
    sent_until = datetime.fromisoformat(text) if text else None

    async def is_of_before(dedupes: Collection[str]) -> bool:
        if sent_until is None:
            return False
        async with core.store.read() as tx:
            return await outbox.is_any_sent(tx, dedupes, until=sent_until)

    return Wanted(named_channels(core) | set(others) | set(before), places, is_of_before)


async def wanted_again(core: Core) -> Wanted:
    """The messages alone that could not be looked at so far. One that is gone, or was never posted, stays so."""
    async with core.store.read() as tx:
        kept = await unseen_requests.of(tx)
    places = {id_: one.place for id_, one in kept.items() if unseen_requests.may_be_seen(one)}

    async def is_of_before(_dedupes: Collection[str]) -> bool:
        return True

    return Wanted((), places, is_of_before)


async def _places(tx: Tx) -> Mapping[str, unseen_requests.Place]:
    """Where the messages of open requests are. First those of which something may be sent without another word. Where
    one was not seen before, that place counts: it may have been posted once more since."""
    kind = message_kinds.REQUEST_CARD
    found = await unseen_requests.sent_without_a_word(tx)
    found += await requests.find(tx, states=OPEN, oldest_first=True, limit=_CARDS_MOST)
    by_subject = {message_kinds.stored_subject(kind.about, one.id): one.id for one in found}
    there = await outbox.places(tx, list(by_subject), kind.form)
    places = {
        id_: unseen_requests.Place(one.channel, one.ts)
        for subject, id_ in by_subject.items()
        if (one := there.get(subject))
    }
    before = {
        id_: one.place
        for id_, one in (await unseen_requests.of(tx)).items()
        if id_ in by_subject.values() and one.why != unseen_requests.NEVER_POSTED
    }
    return places | before


async def _named_before(tx: Tx) -> list[str]:
    kept = await api_snapshots.get(tx, SLACK, _NAMED)
    return list(kept.value) if kept is not None else []


async def was_anything_posted(core: Core) -> bool:
    """Before this start, by what the database has."""
    async with core.store.read() as tx:
        kept = await api_snapshots.get(tx, SLACK, _UNREAD_SINCE)
    return kept is None or bool(kept.value["sent_at"])


async def beyond_the_log(tx: Tx, messages: Sequence[PostedMessage]) -> list[Anchor]:
    """Of the ends of the log with which these were drawn those that this log does not have, and that were not lost with
    an earlier copy, in their order."""
    ends = {end.hash: end for one in messages if (end := _anchor_in(one.log_end)) and audit.is_ours(tx, end)}
    known = await on_record.of(tx)
    beyond = [
        one for one in ends.values() if one.seq > known.seq or not known.fingerprints.has(one.seq, one.hash)
    ]
    found = await restored_copies.of_this_chain(tx, beyond) if beyond else []
    return sorted(found, key=lambda one: one.seq)


def _anchor_in(line: str) -> Anchor | None:
    with suppress(ValueError):
        return Anchor.from_line(line)
    return None


async def last_entry_before(tx: Tx, lost: Anchor) -> tuple[int, datetime | None]:
    """Number and time of the newest entry that the copy can have had, as it lacks `lost` and has begun since."""
    kept = await api_snapshots.get(tx, SLACK, _UNREAD_SINCE)
    seq = min(lost.seq - 1, int(kept.value["seq"]) if kept else lost.seq)
    return seq, await audit.made_at(tx, seq)
