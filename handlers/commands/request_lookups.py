"""`/requests`: the look-ups about requests, and the cancelling of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.errors import NotFound
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
        kind = _kind(lower, kinds)
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


def _kind(word: str, kinds: Mapping[str, type[Operation]]) -> str:
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
    """The Slack id of who is named; raises LookupFailed for a name nobody has."""
    if not named.startswith("@"):
        return named
    found = await asked.core.directory.members([named])
    if len(found) != 1:
        raise NotFound("Name one person: /requests by @alice last week.")
    return min(found)


async def _show(asked: Asking) -> Block:
    return replies.request_answer(await request_lookups.request_view(asked.core, _named(asked)))


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
        ("requests", "show"),
        _show,
        "/requests show R-XXXX",
        "one request with everything decided about it",
        shared=True,
    ),
    LookUp(("requests", "cancel"), _cancel, "/requests cancel R-XXXX", "withdraw one of yours"),
    LookUp(
        ("requests", "verify"),
        _verify,
        "/requests verify R-XXXX",
        "prove that it is what was approved: fingerprint, decisions, audit chain",
        shared=True,
    ),
)
