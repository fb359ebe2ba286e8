"""Who may do what, asked of Slack at the moment it matters and never remembered for a decision."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import NamedTuple, TypeVar

from bot import operations, together
from bot.domain.errors import (
    AlreadyDecided,
    CountersignError,
    LookupFailed,
    NotAllowed,
    OwnRequest,
    PerhapsGone,
    TooMuch,
    UnknownName,
)
from bot.domain.limits import WINDOW, IsSame
from bot.domain.people import Actor, Standing, is_full_member, never_met, require_full_member
from bot.domain.requests import Reason, why_not_second
from bot.domain.slack_faults import NOT_THERE
from bot.domain.time import in_words
from bot.operations import Operation
from bot.services.audit import audited_refusal
from bot.services.core import Core, Lists
from storage.operators import people, roles_on_record

log = logging.getLogger("countersign.people")

T = TypeVar("T")

# A click that decides uses a look at the groups that began so many seconds before it at most: Slack allows some twenty
# of them a minute. Who clicked, and who asked, is looked up for each click.
DECIDED_WITHIN_S = 3.0
# Who is only shown something, a preview or the terms, was looked up within so many seconds: Slack allows some hundred
# look-ups of a person a minute. What is submitted and decided then is checked for itself.
SHOWN_WITHIN_S = 60.0
# What somebody is answered, or a form that they fill, goes by a look that began up to so many seconds before they came:
# whoever sends a hundred commands at once needs one look at their account, and leaves the others to everybody else.
ANSWERED_WITHIN_S = 5.0
# So often a minute Slack is asked about somebody by what they do themselves, of the some hundred looks at a person that
# it allows in all.
MOST_LOOKS = 30
_LOOKS_WITHIN_S = 60.0
# Who was looked up is kept again so many seconds after the last time.
KEPT_AGAIN_AFTER_S = 60.0
MOST_KEPT = 1_000
# For what is counted, and for it alone, the mailbox of an account serves for so long: a limit counts for as long.
MAILBOX_KEPT_FOR_S = WINDOW.total_seconds()
# So many accounts are looked up for one decision to know whose they are, so many of them at a time: of the some hundred
# that Slack allows a minute, a click leaves most to the others.
MOST_LOOKED_UP = 20
_AT_ONCE = 10
#: Slack has to say twice that it does not know an account, so many seconds apart, before anything ends by it.
GONE_AFTER_S = 10.0
# What it said longer ago than this, and not since, may have been a fault of a moment.
_GONE_AGAIN_WITHIN_S = 60.0
#: In `core.people_seen`: accounts that the file says are one person's, as last read.
_PERSONS = "persons"
# A preview is filled within this time; older ones look the person up again.
REQUESTER_CHECK_HOLDS = timedelta(minutes=10)


async def member(core: Core, slack_id: str, *, within_s: float = 0, safer: bool = False) -> Actor:
    """The person who does something, looked up live; raises `NotAllowed` for guests, strangers, bots, the deactivated,
    `TooMuch` for who needed too many looks, and `LookupFailed`.

    For what is only shown, by a look that began up to `within_s` before. `safer`: what they do only makes things safer,
    as a pause or a "no"; then it is never too much, and a look of the last minute serves.
    """
    asked_s = core.clock.monotonic()
    count = partial(_count_look, core, slack_id)
    try:
        if within_s:
            actor = await _seen_lately(core, slack_id, within_s, first=count)
        else:
            count()
            actor = await _seen_now(core, slack_id)
    except TooMuch:
        if not safer:
            raise
        actor = await _seen_lately(core, slack_id, SHOWN_WITHIN_S)
    require_gone_for_sure(core, [actor], TRY_AGAIN, whose="your account")
    return await _full_member(core, actor, asked_s, safer=safer)


async def full_member(core: Core, slack_id: str) -> Actor:
    """Somebody whom another person names, looked up live: it is not counted as a look of their own. Raises NotAllowed,
    LookupFailed."""
    asked_s = core.clock.monotonic()
    return await _full_member(core, await account(core, slack_id), asked_s)


async def _full_member(core: Core, actor: Actor, asked_s: float, *, safer: bool = False) -> Actor:
    """`safer`: what they do only makes things safer, so it goes on where nobody can write down who they are."""
    slack_id = actor.id
    kept, kept_s = core.people_kept.get(slack_id, (None, 0.0))
    if not actor.is_gone and (kept != actor or asked_s - kept_s >= KEPT_AGAIN_AFTER_S):
        try:
            async with core.store.begin() as tx:
                await people.put(tx, actor)
        except Exception:
            if not safer:
                raise
            log.exception("people.not_written_down")
        if len(core.people_kept) >= MOST_KEPT:
            core.people_kept.clear()
        core.people_kept[slack_id] = (actor, asked_s)
    require_full_member(actor, core.directory.home_team)
    return actor


def _count_look(core: Core, slack_id: str) -> None:
    """Raise `TooMuch` where what they did lately needed as many looks as one person has."""
    about = ("looks for", known_person(core, slack_id))
    now_s = core.clock.monotonic()
    lately = [at for at in core.people_seen.last(about) or () if at > now_s - _LOOKS_WITHIN_S]
    if len(lately) >= MOST_LOOKS:
        raise TooMuch(
            "You did more within a minute than Slack can be asked about for one person, so nothing was done. Try again"
            " in a minute; other people are not held up."
        )
    core.people_seen.note(about, now_s, (*lately, now_s), core.clock)


async def account_lately(core: Core, slack_id: str, within_s: float) -> Actor:
    """By a look that began up to `within_s` before. Raises LookupFailed, as `account` does."""
    actor = await _seen_lately(core, slack_id, within_s)
    require_gone_for_sure(core, [actor], TRY_AGAIN)
    return actor


async def _seen_lately(
    core: Core, slack_id: str, within_s: float, *, first: Callable[[], None] = lambda: None
) -> Actor:
    ask, about = partial(_looked_up, core, slack_id), _account(slack_id)
    return await core.people_seen.lately(about, ask, core.clock, within_s=within_s, first=first)


async def account(core: Core, slack_id: str) -> Actor:
    """The account as Slack says it now. Raises LookupFailed, also where Slack has not said often enough that it does
    not know it."""
    actor = await _seen_now(core, slack_id)
    require_gone_for_sure(core, [actor], TRY_AGAIN)
    return actor


async def _seen_now(core: Core, slack_id: str) -> Actor:
    """What is sent soon on the same decision is sent by this look."""
    asked_s = core.clock.monotonic()
    actor = await _looked_up(core, slack_id)
    core.people_seen.note(_account(slack_id), asked_s, actor, core.clock)
    return actor


async def _looked_up(core: Core, slack_id: str) -> Actor:
    """That Slack does not know an account is an answer: nobody has it. Raises LookupFailed where there is none, and
    where Slack does not know the bot's own account either."""
    asked_s = core.clock.monotonic()
    try:
        found = await core.directory.actor(slack_id)
    except LookupFailed as error:
        if error.code not in NOT_THERE or not await core.directory.knows_itself():
            raise
        return _noted_as_gone(core, slack_id, asked_s)
    if core.people_seen.last(_gone(slack_id)) is not None:
        core.people_seen.note(_gone(slack_id), asked_s, None, core.clock)
    return found


def _noted_as_gone(core: Core, slack_id: str, asked_s: float) -> Actor:
    about = _gone(slack_id)
    before = core.people_seen.last(about)
    if before is None or asked_s - before.last_s > _GONE_AGAIN_WITHIN_S:
        before = _Gone(asked_s, asked_s)
    core.people_seen.note(about, asked_s, before._replace(last_s=asked_s), core.clock)
    # Whose it was still counts: nobody has more by giving up one of two accounts.
    seen = core.people_seen.remembered(core.clock, within_s=MAILBOX_KEPT_FOR_S).get(_account(slack_id))
    return Actor(slack_id, slack_id, is_gone=True, mailbox=seen.mailbox if isinstance(seen, Actor) else "")


class _Gone(NamedTuple):
    """When Slack first and last said that it does not know an account, in seconds, monotonic."""

    first_s: float
    last_s: float


#: What is said to who clicks, in the place of "It is asked again".
TRY_AGAIN = "Nothing was recorded. Try again in ten seconds."


def require_gone_for_sure(
    core: Core,
    accounts: Iterable[Actor],
    then: str = "It is asked again.",
    *,
    whose: str = "the account of one of the people in this",
) -> None:
    """Raise PerhapsGone where Slack has not said often enough that it does not know one of them: a fault of a moment
    ends nothing, and accuses nobody."""
    for account in accounts:
        gone = core.people_seen.last(_gone(account.id)) if account.is_gone else None
        if account.is_gone and (gone is None or gone.last_s - gone.first_s < GONE_AFTER_S):
            raise PerhapsGone(f"Slack says that it does not know {whose}. {then}", "user_not_found")


def _gone(slack_id: str) -> Hashable:
    return ("gone", slack_id)


async def require_member(
    core: Core, slack_id: str, *, action: str, subject: str = "", within_s: float = 0, safer: bool = False
) -> Actor:
    """As `member`, and a refusal is audited; that Slack cannot say who it is, is none."""
    async with audited_refusal(core, slack_id, action, subject, of=NotAllowed):
        return await member(core, slack_id, within_s=within_s, safer=safer)


async def require_reader(core: Core, slack_id: str, *, action: str = "lookup", safer: bool = False) -> Actor:
    """As `require_member`, for who is only answered: their look may be some seconds old."""
    return await require_member(core, slack_id, action=action, within_s=ANSWERED_WITHIN_S, safer=safer)


async def require_requester(
    core: Core, slack_id: str, *, action: str, within_s: float = 0, safer: bool = False
) -> Actor:
    """A full member who may ask: anybody, unless `people.requesters` names some."""
    actor = await require_member(core, slack_id, action=action, within_s=within_s, safer=safer)
    names = core.policy.people.requesters
    may_ask = (await (roles_lately if within_s else roles)(core)).requesters if names else None
    if may_ask is not None and slack_id not in may_ask:
        async with audited_refusal(core, slack_id, action):
            raise NotAllowed(
                f"Requests may be made by {', '.join(names)} only. Ask one of them.", "not_a_requester"
            )
    return actor


def who_may_ask(core: Core, cls: type[Operation]) -> str:
    """The names in the file of those who may request this kind; empty = every full member."""
    named = core.policy.people
    return ", ".join((named.admins or named.approvers) if cls.handling.asked_by_admins else named.requesters)


async def require_may_ask(
    core: Core, slack_id: str, cls: type[Operation], *, action: str, within_s: float = 0, safer: bool = False
) -> Actor:
    """As `require_requester`; a kind for admins may be requested by admins only, requesters or not."""
    if not cls.handling.asked_by_admins:
        return await require_requester(core, slack_id, action=action, within_s=within_s, safer=safer)
    text = f"Only admins can request this: {who_may_ask(core, cls)}. Ask one of them."
    return await require_role(core, slack_id, Role.ADMIN, NotAllowed(text, "not_an_admin"), action=action)


async def checked_lately(core: Core, slack_id: str) -> Actor:
    """The person as looked up within the last ten minutes, without asking Slack: for use before an ack."""
    async with core.store.read() as tx:
        found = await people.get(tx, slack_id)
    if found is None or found.checked_at < core.clock.now() - REQUESTER_CHECK_HOLDS:
        raise LookupFailed(
            "This preview is too old to submit. Close it and start again; nothing was recorded."
        )
    require_full_member(found.actor, core.directory.home_team)
    return found.actor


async def require_known_member(core: Core, slack_id: str, *, action: str, subject: str = "") -> Actor:
    """A full member, as looked up within the last ten minutes, else asked of Slack: for what is only shown, or
    withdrawn. A refusal is audited."""
    try:
        async with audited_refusal(core, slack_id, action, subject, of=NotAllowed):
            return await checked_lately(core, slack_id)
    except LookupFailed:
        return await require_member(core, slack_id, action=action, subject=subject)


class Role(Enum):
    """What somebody has to be to do a thing that is for some only."""

    ADMIN = "admin"
    APPROVER_OR_ADMIN = "approver or admin"


@dataclass(frozen=True, slots=True)
class Roles:
    """Who may decide, who are admins and who may ask, by Slack id, from one reading.

    `requesters`: None = every full member. `ago_s`: so many seconds before now that look at Slack began.
    """

    standing: Standing
    admins: frozenset[str]
    requesters: frozenset[str] | None = None
    ago_s: float = 0.0

    def may_ask(self, cls: type[Operation], slack_id: str) -> bool:
        """May this full member request this kind? Of a kind for admins, these alone, requesters or not."""
        if cls.handling.asked_by_admins:
            return slack_id in self.admins
        return self.requesters is None or slack_id in self.requesters

    def of(self, role: Role) -> frozenset[str]:
        """Who has this role."""
        match role:
            case Role.ADMIN:
                return self.admins
            case Role.APPROVER_OR_ADMIN:
                return self.standing.approvers | self.admins


async def standing(core: Core) -> Standing:
    """Who may approve now: the policy's approvers, and who decides in the place of one of them."""
    return (await roles(core)).standing


async def roles(core: Core) -> Roles:
    """As Slack says it now: by a look that all share who decide within `DECIDED_WITHIN_S`."""
    return await core.people_seen.lately(
        _roles_key(core),
        lambda: _roles(core, core.directory.each),
        core.clock,
        within_s=DECIDED_WITHIN_S,
    )


async def require_role(
    core: Core,
    slack_id: str,
    role: Role,
    refusal: NotAllowed,
    *,
    action: str,
    subject: str = "",
    read: Callable[[Core], Awaitable[Roles]] = roles,
    safer: bool = False,
) -> Actor:
    """A full member who has this role now; anybody else gets `refusal`, which is audited."""
    actor = await require_member(core, slack_id, action=action, subject=subject, safer=safer)
    if slack_id not in (await read(core)).of(role):
        async with audited_refusal(core, slack_id, action, subject):
            raise refusal
    return actor


def require_approver(core: Core, actor: Actor, standing: Standing) -> None:
    """For a decision that one approver may take, by `standing` as read now. Raises NotAllowed."""
    if actor.id not in standing.approvers:
        settles = actor.id in standing.waiting
        raise not_second(core, Reason.NOT_SETTLED if settles else Reason.NOT_AN_APPROVER)


async def standing_lately(core: Core) -> Standing:
    """For showing who may decide; `standing` is for deciding."""
    return (await roles_lately(core)).standing


async def roles_lately(core: Core) -> Roles:
    """From a reading half a minute old at most: for showing, and for what only makes things safer."""

    async def lately(lists: Sequence[Sequence[str]]) -> Sequence[frozenset[str]]:
        return [await core.directory.members_lately(names) for names in lists]

    found = await _roles(core, lately)
    return replace(found, standing=as_persons(found.standing, _kept(core)))


@dataclass(frozen=True, slots=True)
class SeenToSend:
    """Who may decide, and accounts by Slack id, from one reading for all requests that wait to be sent."""

    roles: Roles
    actors: Mapping[str, Actor]


async def seen_to_send(core: Core, slack_ids: Collection[str], *, within_s: float) -> SeenToSend:
    """For the check before sending: readings begun less than `within_s` ago. Raises LookupFailed."""
    ids, seen, clock = sorted(set(slack_ids)), core.people_seen, core.clock

    async def of_accounts() -> list[Actor]:
        return [
            await seen.at(_account(i), partial(_looked_up, core, i), clock, within_s=within_s) for i in ids
        ]

    # At the same time, or the first would be old by the time the last is read.
    found, actors = await asyncio.gather(_roles_seen(core, within_s), of_accounts())
    return SeenToSend(found, dict(zip(ids, actors, strict=True)))


def seen_to_send_since(core: Core, slack_ids: Collection[str]) -> float | None:
    """When the oldest of those readings began, by the monotonic clock; None where nothing was read."""
    begun = [core.people_seen.begun_at(about) for about in (_roles_key(core), *map(_account, slack_ids))]
    return min((at for at in begun if at is not None), default=None)


async def _roles_seen(core: Core, within_s: float) -> Roles:
    return await core.people_seen.at(
        _roles_key(core), lambda: _roles(core, core.directory.each), core.clock, within_s=within_s
    )


def _roles_key(core: Core) -> Hashable:
    """One look for those whose delegations are in force now: the end of one takes effect at once."""
    now = core.clock.now()
    in_force = tuple((d.away, d.delegate) for d in core.policy.delegations if d.in_force(now))
    return ("roles", core.policy.people, in_force)


def _account(slack_id: str) -> Hashable:
    return ("actor", slack_id)


async def _roles(
    core: Core, each: Callable[[Sequence[Sequence[str]]], Awaitable[Sequence[frozenset[str]]]]
) -> Roles:
    names = core.policy.people
    # With no admins named, approvers do what admins do. Delegation is of approving alone.
    lists: list[Sequence[str]] = [
        names.approvers,
        names.admins or names.approvers,
        names.requesters,
        *names.same_person,
    ]
    now = core.clock.now()
    in_force = [([d.away], [d.delegate]) for d in core.policy.delegations if d.in_force(now)]
    try:
        # All of it from one reading: Slack allows few.
        found = await each([*lists, *(name for pair in in_force for name in pair)])
        others = found[len(lists) :]
        pairs = list(zip(others[::2], others[1::2], strict=True))
    except UnknownName:
        found = await each(lists)
        pairs = [pair for names in in_force if (pair := await _known(each, names)) is not None]
    # A name that has become a group's stands for nobody: a delegation is from one person to one person.
    seats = [(min(away), min(delegate)) for away, delegate in pairs if len(away) == len(delegate) == 1]
    approvers, admins, requesters, *same = found[: len(lists)]
    waiting = await _waiting(core, approvers)
    standing = Standing.of(approvers - waiting, seats).with_persons(same)
    core.people_seen.note(_PERSONS, core.clock.monotonic(), same, core.clock)
    return Roles(
        replace(standing, waiting=waiting),
        admins,
        requesters if names.requesters else None,
        found.ago_s if isinstance(found, Lists) else 0.0,
    )


async def _waiting(core: Core, approvers: frozenset[str]) -> frozenset[str]:
    """Those of the approvers who were added less than `people.settle` ago, or were not recorded yet."""
    settle = core.policy.people.settle
    if not settle:
        return frozenset()
    async with core.store.read() as tx:
        since = await roles_on_record.since_when(tx, "approvers")
        now = tx.now
    if since is None:
        return frozenset()

    def counts(one: str) -> bool:
        added_at = since.get(one, now)
        return added_at is None or added_at + settle <= now

    return frozenset(one for one in approvers if not counts(one))


def as_persons(standing: Standing, accounts: Iterable[Actor]) -> Standing:
    """The same, where those of these accounts that have one mailbox belong to one person."""
    by_mailbox: dict[str, set[str]] = defaultdict(set)
    for account in accounts:
        if account.mailbox:
            by_mailbox[account.mailbox].add(account.id)
    return standing.with_persons(theirs for theirs in by_mailbox.values() if len(theirs) > 1)


def known_persons(core: Core) -> Standing:
    """Which accounts belong to one person, as far as this process knows without asking Slack; nobody is an approver.

    For what is only shown, and for what may not wait for Slack.
    """
    same: Sequence[frozenset[str]] = core.people_seen.last(_PERSONS) or ()
    return as_persons(Standing(frozenset()).with_persons(same), _kept(core))


def known_person(core: Core, slack_id: str) -> str:
    """One account that stands for all of this person's, as far as this process knows without asking Slack."""
    return min(known_persons(core).accounts_of([slack_id]))


def _kept(core: Core) -> list[Actor]:
    return [actor for actor, _ in core.people_kept.values()]


class NotLookedAt(Exception):
    """Somebody's word counts with others whose account was not looked at."""

    def __init__(self, slack_ids: Collection[str]) -> None:
        super().__init__()
        self.slack_ids = slack_ids


class NotKnownWhose(NotLookedAt):
    """What is counted may hang on whose these accounts are: those that may matter most come first."""

    def __init__(self, slack_ids: Sequence[str]) -> None:
        super().__init__(slack_ids)
        self.in_turn = slack_ids


@dataclass(frozen=True, slots=True)
class Counted:
    """Which accounts belong to one person, for what is counted: limits, sums and Freeze now.

    `known`: accounts of which it is known whose they are, or which count by themselves; None = what `standing` knows
    is all there is, and nobody is looked up.
    """

    standing: Standing
    known: Collection[str] | None = None


async def judged(
    core: Core,
    standing: Standing,
    accounts: Iterable[Actor],
    judge: Callable[[Standing, Mapping[str, Actor], Counted], Awaitable[T]],
) -> T:
    """What `judge` answers, who is given who belongs together, whose accounts that was read from, and who belongs
    together in what is counted.

    Where it raises `NotLookedAt`, these accounts are looked up, too, and it is asked again. A mailbox of a minute ago
    serves. What is counted may hang on many: there a mailbox of a day ago serves, few at a time are looked up, and no
    more than `MOST_LOOKED_UP`; what is not known then counts as other people.
    """
    seen = {account.id: account for account in accounts}
    by_themselves = set[str]()
    left = MOST_LOOKED_UP
    while True:
        counted = counted_now(core, standing, seen, by_themselves)
        try:
            return await judge(as_persons(standing, seen.values()), seen, counted)
        except NotKnownWhose as missing:
            group = missing.in_turn[: min(left, _AT_ONCE)]
            left -= len(group)
            # Whose it was counts, gone for sure or not.
            found = await together.each(_seen_lately(core, one, SHOWN_WITHIN_S) for one in group)
            by_themselves.update(group or missing.in_turn)
            seen |= {account.id: account for account in found}
        except NotLookedAt as missing:
            looks = (account_lately(core, one, SHOWN_WITHIN_S) for one in sorted(missing.slack_ids))
            seen |= {account.id: account for account in await together.each(looks)}


def counted_now(
    core: Core, standing: Standing, seen: Mapping[str, Actor], by_themselves: Collection[str] = ()
) -> Counted:
    """Who belongs together by the accounts `seen`, and by what this process saw of others within a day."""
    remembered = core.people_seen.remembered(core.clock, within_s=MAILBOX_KEPT_FOR_S)
    accounts = {one.id: one for one in remembered.values() if isinstance(one, Actor)} | dict(seen)
    known = frozenset(accounts).union(by_themselves)
    return Counted(as_persons(standing, accounts.values()), known)


def require_looked_at(slack_ids: Iterable[str], seen: Collection[str]) -> None:
    """Raise `NotLookedAt` unless each of these accounts was looked up for this decision."""
    if missing := set(slack_ids).difference(seen):
        raise NotLookedAt(missing)


def by_persons(
    judge: Callable[[IsSame], T],
    counted: Counted,
    *,
    own: Iterable[str],
    others: Mapping[str, Decimal] | Mapping[str, int],
) -> T:
    """What `judge` answers by which accounts are one person's: the accounts `own`, with which of `others`.

    `others`: how much counts by each. Raises `NotKnownWhose` where it could matter whose accounts are that are not
    known, even if all of them were one person's.
    """
    standing = counted.standing
    answer = judge(standing.is_same_person)
    if counted.known is None:
        return answer
    theirs = standing.accounts_of(own)
    unknown = standing.accounts_of((*theirs, *others)).difference(counted.known)
    if not unknown:
        return answer
    doubtful = standing.accounts_of(unknown)

    def may_be_same(one: str, other: str) -> bool:
        # Who is not among them is asked about, too: they count nothing here.
        return one in doubtful or other in doubtful or standing.is_same_person(one, other)

    if judge(may_be_same) != answer:
        raise NotKnownWhose(_in_turn(standing, unknown, theirs, others))
    return answer


def _in_turn(
    standing: Standing,
    unknown: Collection[str],
    own: Collection[str],
    others: Mapping[str, Decimal] | Mapping[str, int],
) -> list[str]:
    """The person's own first, which may lead to others of theirs; then those by whose person the most counts."""

    def rank(one: str) -> tuple[bool, Decimal | int, str]:
        accounts = standing.accounts_of([one])
        return one not in own, -sum(others.get(i, 0) for i in accounts), one

    return sorted(unknown, key=rank)


async def _known(
    each: Callable[[Sequence[Sequence[str]]], Awaitable[Sequence[frozenset[str]]]],
    names: tuple[Sequence[str], Sequence[str]],
) -> tuple[frozenset[str], frozenset[str]] | None:
    """None for a delegation whose names Slack does not know: it gives nobody anything, and is reported by
    `delegations.problems`."""
    try:
        away, delegate = await each(names)
    except UnknownName:
        return None
    return away, delegate


async def approvers(core: Core) -> frozenset[str]:
    return (await standing(core)).approvers


async def admins(core: Core) -> frozenset[str]:
    return (await roles(core)).admins


def require_second_person(
    core: Core,
    actor: Actor,
    *,
    asked_by: str,
    standing: Standing,
    allowed: Collection[str] | None = None,
    not_allowed: NotAllowed | None = None,
) -> None:
    """`bot.domain.requests.approvals.why_not_second`, raised as the sentence for the person.

    `not_allowed` is said to who is not among `allowed`, where that is not the approvers alone.
    """
    reason = why_not_second(actor.id, asked_by=asked_by, standing=standing, allowed=allowed)
    if reason is Reason.NOT_AN_APPROVER and not_allowed is not None:
        raise not_allowed
    if reason is not None:
        raise not_second(core, reason)


def not_second(core: Core, reason: Reason) -> CountersignError:
    """The sentence for why somebody may not act as the second person."""
    match reason:
        case Reason.OWN_REQUEST:
            return OwnRequest()
        case Reason.OF_ONES_DELEGATE:
            return NotAllowed(
                "You and the requester are linked by a delegation, so you cannot decide on this. Somebody else has to."
                " Nothing has changed.",
                "of_ones_delegate",
            )
        case Reason.OWN_OTHER_ACCOUNT:
            return NotAllowed(
                "You requested this with another account of yours, so you cannot decide on it. Somebody else has to."
                " Nothing has changed.",
                "own_other_account",
            )
        case Reason.DECIDED_FROM_OTHER_ACCOUNT:
            return AlreadyDecided(
                "You approved this with another account of yours; somebody else has to give the next approval."
            )
        case Reason.NOT_SETTLED:
            return NotAllowed(
                f"You have been an approver for less than {in_words(core.policy.people.settle)}, so you cannot decide"
                " yet. Somebody who was an approver before can. Nothing has changed.",
                "not_settled",
            )
        case Reason.ALREADY_DECIDED:
            return AlreadyDecided("Your approval is in already; somebody else has to give the next one.")
        case Reason.DECIDED_BY_DELEGATE:
            return AlreadyDecided(
                "Somebody who counts as one person with you, by delegation, has approved this already; somebody else"
                " has to give the next approval."
            )
        case _:
            names = ", ".join(core.policy.people.approvers)
            return NotAllowed(f"Only {names} may decide on this.", "not_an_approver")


def why_counts_no_more(core: Core, actor: Actor, standing: Standing) -> str:
    """Why the approval of somebody counts no more, after their name and "approved this but"; "" where it counts."""
    if actor.is_gone:
        return "has an account that Slack does not know any more, so the approval counts no more"
    if not is_full_member(actor, core.directory.home_team):
        return "is no longer an approver"
    return "" if actor.id in standing.approvers | standing.waiting else "is no longer an approver"


async def policy_problems(core: Core) -> list[str]:
    """Why the policy could never be met by the people it names now; empty when it can.

    Raises UnknownName for a name that Slack does not know, that of an admin included.
    """
    named = core.policy.people
    approvers, requesters, _admins, *same = await core.directory.each(
        [named.approvers, named.requesters, named.admins, *named.same_person]
    )
    asking = requesters if named.requesters else None
    return never_met(core.policy, operations.listed(core.kinds), asking, approvers, same)
