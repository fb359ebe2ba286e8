"""What every use case is given: the database, the programs, the policy, the clock and the people.

Built once by `bot.app`; nothing here is global, so a test can hand in any part.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bot.domain.alerts import Alerting
from bot.domain.card_details import Reveals
from bot.domain.events import Destination
from bot.domain.ids import Ids
from bot.domain.passkeys import Site
from bot.domain.people import Actor, Policy
from bot.domain.requests import Request, State
from bot.domain.time import Clock
from bot.operations import Operation
from bot.partner.client import PartnerClient
from bot.services.anchor_places import AnchorPlaces
from bot.services.held_stops import HeldStops
from bot.services.measures import Measures
from bot.services.otp_store import Codes
from bot.services.shared_look import SharedLooks
from bot.services.traces import Traces
from storage.store import Store
from storage.transaction import Tx


class Lists(list[frozenset[str]]):
    """Slack ids behind several lists of names. `ago_s`: so many seconds before now that look at Slack began."""

    ago_s = 0.0


class Directory(Protocol):
    """Who people are, asked of Slack now. Every method raises `LookupFailed`."""

    home_team: str
    workspace_url: str

    async def actor(self, slack_id: str) -> Actor: ...

    async def knows_itself(self) -> bool:
        """Does Slack know the bot's own account now? Else what it says of other accounts tells nothing of them."""
        ...

    async def members(self, names: Sequence[str]) -> frozenset[str]:
        """Slack ids behind ids, `@group` handles and `@user` names."""
        ...

    async def each(self, lists: Sequence[Sequence[str]]) -> Sequence[frozenset[str]]:
        """As `members`, for several lists of names, all of them from one reading: `Lists` where it is not of now."""
        ...

    async def members_lately(self, names: Sequence[str]) -> frozenset[str]:
        """The same from a recent reading: for showing, never for deciding."""
        ...

    async def called(self, names: Sequence[str], among: Collection[str] | None = None) -> Sequence[str]:
        """Ids of the groups and people behind these names, as a mention holds them.

        With `among`, Slack ids of people, exactly these are reached: a group only if one of them is in it, and by
        themselves those who are in none of the groups.
        """
        ...


class Carrier(Protocol):
    """Brings requests to an executor. Losing all that it carries costs a delay, never a request."""

    async def enqueue(self, tx: Tx, request_id: str, queue: str) -> None:
        """Have it carried out once this transaction is durable."""
        ...

    def wake(self) -> None:
        """Many may have become due; called after a commit."""
        ...


@dataclass(slots=True)
class Channels:
    """Slack channel ids. Where Slack was down at the start, those it gave last; changed when it is back."""

    approvals: str
    alerts: str
    audit: str = ""
    withheld: dict[str, str] = field(default_factory=dict)
    """Channel id -> why nothing is posted there, a code of `slack_faults.OPEN_TO_OTHERS`."""


def no_crash(point: str) -> None:
    """The crash-point hook of production: nothing."""


def alone(_work: str) -> bool:
    """One process on its database: it does everything."""
    return True


def queue_name(work: str, program: str) -> str:
    """`work`: emergency, money or lookups."""
    return f"{work}:{program}"


def never(_work: str) -> bool:
    """A process that does not work leaves it to others."""
    return False


SLACK = ""
"""In `Core.unseen`: the messages in Slack, which belong to every program."""


class Unseen(NamedTuple):
    """Not seen since a start, at `since_s`, and held for it until `until_s`, both monotonic. `error`: of the last
    try. `joins`: of Slack, as `unseen_requests.hold_never_posted` found it at the start."""

    since_s: float
    until_s: float
    error: str = ""
    joins: Collection[str] | None = None


class Closing(asyncio.Event):
    """Set once the process ends: nothing new is sent."""

    _began_s: float | None = None

    def set(self) -> None:
        if self._began_s is None:
            self._began_s = asyncio.get_running_loop().time()
        super().set()

    def left_s(self, of_s: float) -> float:
        """What is left of so many seconds from the beginning of the end; all of them before that."""
        if self._began_s is None:
            return of_s
        return max(0.0, self._began_s + of_s - asyncio.get_running_loop().time())


@dataclass(frozen=True, slots=True)
class Core:
    store: Store
    partners: Mapping[str, PartnerClient]
    kinds: Mapping[str, type[Operation]]
    policy: Policy
    channels: Channels
    directory: Directory
    carrier: Carrier
    clock: Clock
    ids: Ids
    owner: str  # this process, as leases name it
    live: Mapping[str, bool] = field(default_factory=dict)  # program -> real money?
    outbox_bell: asyncio.Event = field(default_factory=asyncio.Event)  # rung when a message waits to be sent
    inbox_bell: asyncio.Event = field(default_factory=asyncio.Event)  # rung when an event was stored
    closing: Closing = field(default_factory=Closing)
    roles_noted: dict[str, frozenset[str]] = field(
        default_factory=dict
    )  # role -> who had it when last recorded
    people_seen: SharedLooks = field(default_factory=SharedLooks)  # by requests that wait to be sent
    measures: Measures = field(default_factory=Measures)  # counted since the start
    anchors: AnchorPlaces = field(default_factory=AnchorPlaces)  # of the audit chain, outside the database
    people_kept: dict[str, tuple[Actor, float]] = field(
        default_factory=dict
    )  # looked up, and kept when (monotonic)
    accounts_seen: SharedLooks = field(default_factory=SharedLooks)  # by the same, of the float
    codes: Codes = field(default_factory=Codes)  # one-time codes on their way; in memory only
    alerting: Alerting = field(default_factory=Alerting)
    destinations: tuple[Destination, ...] = ()  # of the relay
    public_url: str = ""  # where the web server is reached from outside; empty = nowhere
    reveals: Reveals = field(default_factory=Reveals)  # where the page of card details is reached
    passkeys: Site = field(default_factory=Site)  # where the page for passkeys is reached
    lease_s: float = 30.0
    crash_point: Callable[[str], None] = no_crash
    holds: Callable[[str], bool] = alone  # may this process of several do this now? (`domain.shared_work`)
    # Requests that this process holds now, by id: a lease in its name on another one was written by somebody else.
    holding: Counter[str] = field(default_factory=Counter)
    held: HeldStops = field(default_factory=HeldStops)  # what people stopped, and could not be recorded
    # What this process has not seen since its start, a program's ledger or `SLACK`: see `older_copies.copy_detection`.
    unseen: dict[str, Unseen] = field(default_factory=dict)

    @property
    def offered_kinds(self) -> Mapping[str, type[Operation]]:
        """The kinds that work here: without those that need a setting which is not made."""
        return {
            name: cls
            for name, cls in self.kinds.items()
            if cls.is_set_up() and (self.reveals.base_url or not cls.handling.needs_public_url)
        }

    @property
    def traces(self) -> Traces:
        """Where parts of traces go."""
        return self.measures.traces

    def is_live(self, program: str | None = None) -> bool:
        """Does this program move real money? Without one: does any, which a message that belongs to all has to say.

        What is not known counts as real money.
        """
        if program:
            return self.live.get(program, True)
        return any(self.live.values()) or not self.live

    def awaits_look(self) -> bool:
        """May the database be an older copy, as far as this process knows, so that nothing that can wait is sent?

        One ledger that was not seen holds every program: a copy is one of the whole database, and what was spent in any
        program counts towards limits that they share.
        """
        return any(map(self.holds_for, self.unseen))

    def holds_for(self, what: str) -> bool:
        """Is sending held back because this was not seen since the start?"""
        one = self.unseen.get(what)
        return one is not None and self.clock.monotonic() < one.until_s

    @property
    def default_program(self) -> str:
        """`main` where there is one, else the first by name."""
        return "main" if "main" in self.partners else min(self.partners)

    def queue_of(self, request: Request) -> str:
        """Where the carrier has it: apart from what is more or less urgent, and from other programs."""
        if self.kinds[request.kind].handling.is_urgent:
            return queue_name("emergency", request.program)
        return queue_name("lookups" if request.state is State.UNRESOLVED else "money", request.program)

    async def carry_out(self, tx: Tx, request: Request) -> None:
        """Have it carried out as soon as this transaction is durable. Of a batch it is the rows that are due."""
        if request.is_batch:
            tx.after_commit(self.carrier.wake)
        else:
            await self.carrier.enqueue(tx, request.id, self.queue_of(request))

    @property
    def float_kinds(self) -> frozenset[str]:
        """The kinds whose exposure leaves the float."""
        return frozenset(kind for kind, cls in self.kinds.items() if cls.handling.moves_float)
