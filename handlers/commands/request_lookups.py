"""`/requests`: the look-ups about requests, and the cancelling of one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.errors import NotFound, UnknownName
from bot.domain.requests import OPEN, State
from bot.domain.time import Period
from bot.operations import Operation
from bot.services import requests
from bot.services.requests import request_lookups, verification
from handlers.commands.lookup import Asking, LookUp, NotUnderstood, mentioned
from handlers.views import Block, replies
from handlers.views.lookups import request_lists

_GROUPS: Mapping[str, frozenset[State]] = {
    "all": frozenset(),
    "open": OPEN,
    "decided": frozenset(State) - OPEN,
}
_TOWARDS = re.compile(r"^(?:for|on)\s+", re.IGNORECASE)
_JOINING = frozenset({"by", "from", "of", "and", "requests"})


@dataclass(frozen=True, slots=True)
class Filter:
    """What was asked for. `person` is a Slack id, or `@name` as typed; empty is anybody."""

    states: frozenset[State] = frozenset()
    kinds: tuple[str, ...] = ()
    person: str = ""
    named: tuple[str, ...] = field(default=())

    def in_words(self, period: Period | None, person_name: str) -> str:
        """What was searched for, for the answer; whoever was mentioned by their display name."""
        when = period.in_words() if period else "of any time"
        words = [person_name if word.startswith(("@", "<@")) else word for word in self.named]
        return f"{' '.join(words) or 'all'}, {when}"


def read(head: str, asker: str, kinds: Mapping[str, type[Operation]]) -> Filter | None:
    """The filter; None where a word is none that is known."""
    states: set[State] = set()
    found_kinds: list[str] = []
    person = ""
    named = head.split()
    for word in named:
        lower = word.lower().rstrip(",")
        kind = kind_called(lower, kinds)
        if lower in _GROUPS:
            states |= _GROUPS[lower]
        elif lower in set(State):
            states.add(State(lower))
        elif lower == "mine":
            person = asker
        elif kind:
            found_kinds.append(kind)
        elif mentioned(word):
            person = mentioned(word)
        elif word.startswith("@") and len(word) > 1:
            person = word
        elif lower not in _JOINING:
            return None
    return Filter(frozenset(states), tuple(found_kinds), person, tuple(named))


def kind_called(word: str, kinds: Mapping[str, type[Operation]]) -> str:
    """`topup`, `top-up` or `card_topup`; a word that two kinds share is none of them."""
    plain = word.replace("-", "").replace("topups", "topup")
    fits = [k.kind for k in kinds.values() if word == k.kind or plain == k.command[1]]
    return fits[0] if len(fits) == 1 else ""


async def _inbox(asked: Asking) -> Block:
    """With nothing named, what is mine and waits for me; else a search."""
    if not asked.rest:
        return request_lists.inbox(await request_lookups.inbox_of(asked.core, asked.slack_id))
    head, period = asked.period()
    wanted = read(head, asked.slack_id, asked.core.kinds)
    if wanted is None:
        raise NotUnderstood(
            f"“{head[:40]}” isn't a state, a kind or a person. Write for example /requests pending, or /requests topup"
            " 7d."
        )
    requester = await _person(asked, wanted.person)
    name = (await asked.core.directory.actor(requester)).name if requester else ""
    found = await request_lookups.search(
        asked.core,
        states=wanted.states,
        kinds=wanted.kinds,
        requester=requester,
        period=period,
        page=asked.page,
        beside=asked.beside,
    )
    return request_lists.search(found, wanted.in_words(period, name), asked.again, asked.zone)


async def _person(asked: Asking, named: str) -> str:
    """The Slack id of who is named; raises NotFound for a name nobody has, or two."""
    if not named.startswith("@"):
        return named
    try:
        found = await asked.core.directory.members([named])
    except UnknownName:
        # Typed here, so nothing is wrong in countersign.toml.
        raise NotFound(
            f"Nobody in Slack is called “{named[1:41]}”, or more than one person is. Mention the one you mean:"
            " /requests by @alice last week."
        ) from None
    if len(found) != 1:
        raise NotFound("Name one person: /requests by @alice last week.")
    return min(found)


async def _waiting(asked: Asking) -> Block:
    """What waits for a person: the asking one, a colleague by name or mention, or else about a card so called."""
    written = _TOWARDS.sub("", asked.rest).strip()
    if written.lower() in ("", "me", "us", asked.actor.name.lower()):
        return request_lists.inbox(await request_lookups.inbox_of(asked.core, asked.slack_id))
    found = await request_lookups.people_called(asked.core, mentioned(written) or written)
    if len(found) == 1:
        ((slack_id, name),) = found.items()
        if slack_id == asked.slack_id:
            name = ""
        return request_lists.inbox(await request_lookups.inbox_of(asked.core, slack_id, name))
    if found:
        raise NotFound(f"“{written[:40]}” is the name of {', '.join(sorted(found.values()))}. Say which one.")
    return await _waiting_about_card(asked, written)


async def _waiting_about_card(asked: Asking, written: str) -> Block:
    """Open requests about the card that is called so. Raises NotFound where neither person nor card is."""
    try:
        found = await request_lookups.open_about_card(asked.core, written)
    except (NotFound, ValueError):
        raise NotFound(
            f"Nobody who may decide, or has an open request, is called “{written[:40]}”, and no card is. Mention the"
            " person: /requests waiting @bob."
        ) from None
    return request_lists.search(found, f"open, about {written[:40]}", asked.again, asked.zone)


async def _show(asked: Asking) -> Block:
    found = await request_lookups.request_view(asked.core, await _one(asked))
    return replies.request_answer(found, await request_lookups.who_can_decide(asked.core, found))


async def _one(asked: Asking) -> str:
    """The request that is named, or the newest of one's own for `last`. Raises NotFound."""
    if asked.rest.lower() != "last":
        return _named(asked)
    found = await request_lookups.search(asked.core, requester=asked.slack_id)
    if not found.rows:
        raise NotFound("You have made no request yet.")
    return found.rows[0].id


async def _cancel(asked: Asking) -> Block:
    cancelled = await requests.cancel(asked.core, _named(asked), asked.slack_id)
    return replies.said(replies.cancelled(cancelled))


async def _verify(asked: Asking) -> Block:
    request_id = _named(asked)
    await request_lookups.request_view(asked.core, request_id)  # says at once when there is none
    length = await verification.chain_length(asked.core)
    if length > verification.LONG_CHAIN:
        await asked.turn.tell(replies.said(f"Checking {length:,} audit entries; this takes a few seconds."))
    return request_lists.verification(await verification.verify(asked.core, request_id))


def _named(asked: Asking) -> str:
    if not asked.rest:
        raise NotFound(f"Name the request: /requests {asked.command.subcommand} R-XXXX.")
    return asked.rest


LOOK_UPS = (
    LookUp(
        ("requests", ""),
        _inbox,
        "/requests [STATE|KIND|all|open|mine|by @PERSON] [PERIOD]",
        "yours, and those that wait for you; with words, a search",
    ),
    LookUp(
        ("requests", "waiting"),
        _waiting,
        "/requests waiting [@PERSON]",
        "what waits for you, or for somebody else",
    ),
    LookUp(
        ("requests", "show"),
        _show,
        "/requests show R-XXXX|last",
        "one request with everything decided about it; last is your newest",
        shared=True,
    ),
    LookUp(
        ("requests", "cancel"), _cancel, "/requests cancel R-XXXX", "withdraw one of yours", is_safer=True
    ),
    LookUp(
        ("requests", "verify"),
        _verify,
        "/requests verify R-XXXX",
        "prove that it is what was approved: fingerprint, decisions, audit chain",
        shared=True,
    ),
)
