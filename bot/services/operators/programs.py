"""Programs and their keys: what the API does not take is held, and goes on when it does; another account is not served.

One rule for every call, whoever makes it. A 401 is about the key: nothing is sent to the program until the key
works. A 403 is about one endpoint that the key may not call: what has to be sent through it waits, and nothing else
does. That somebody stopped sending (`bot.services.operators.pausing`) is another pause, which only people end.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from datetime import datetime, timedelta

from bot.domain.alerts import account_alerts
from bot.domain.errors import Paused
from bot.domain.people import draft_only
from bot.domain.requests import State
from bot.domain.sentences import with_stop
from bot.operations import asking
from bot.partner.client import ENDPOINTS
from bot.partner.errors import Forbidden, PartnerError, Unauthorized
from bot.services import alerts, audit
from bot.services.core import Core
from bot.services.processes import start_holds
from storage.operators import Pause, held_endpoints, pauses, programs, stops
from storage.requests import requests
from storage.transaction import Tx

# The API's message names the scope that is missing [Authentication 3]; where it does not, the document does.
_SCOPE = re.compile(r"\b[a-z]+:[a-z]+\b")
_RESTS_FOR = timedelta(minutes=1)
_BY = "system:execution"


OTHER_ACCOUNT, NOT_READ = "OTHER_ACCOUNT", "ACCOUNT_NOT_READ"
"""Why a program is paused, apart from the codes of the API: whose account its key is of is wrong, or not known yet."""
_CAUSES = {
    OTHER_ACCOUNT: "its key belongs to another account than before",
    NOT_READ: "its account could not be read at the start, so nobody knows yet whose the key is",
}
_NO_KEY = "your card provider does not take the key"


class OtherAccount(Paused):
    """The key of a program is of another account than the program is tied to."""

    reason = "other_account"


async def require_same_account(core: Core, program: str, partner_id: str) -> None:
    """`partner_id` is what GET /me said just now. Another account than before stops sending, with one alert.

    Raises OtherAccount.
    """
    async with core.store.read() as tx:
        known = await programs.get(tx, program)
    if known is not None and known.partner_id == partner_id:
        return
    async with core.store.begin() as tx:
        if await programs.learn_partner_id(tx, program, partner_id):
            return
        if known is None or known.paused_reason != OTHER_ACCOUNT:
            await programs.unpause(tx, program)
            await programs.pause(tx, program, OTHER_ACCOUNT)
            about = f"program:{program}"
            await audit.record(tx, core, "system:poller", "program.paused", about, reason_code=OTHER_ACCOUNT)
            trouble = account_alerts.KEY_TROUBLE.condition(program)
            await alerts.resolve(tx, core, trouble, case="other account")
            said = account_alerts.ACCOUNT_CHANGED.says(program=program)
            condition = account_alerts.ACCOUNT_CHANGED.condition(program)
            await alerts.raise_(tx, core, said, condition=condition, subject=program, program=program)
    raise OtherAccount(
        f"The key of {program} belongs to another account than before, so nothing of it is shown or sent. Set the key"
        " of the known account, or use another program name for another account."
    )


async def key_refused(core: Core, program: str, error: PartnerError) -> None:
    """The API refused a call for its key: hold what this is about, with one alert. Nothing for another error."""
    if isinstance(error, Unauthorized):
        await pause(core, program, error)
    elif isinstance(error, Forbidden):
        await _hold(core, program, error)


async def pause(core: Core, program: str, error: PartnerError) -> None:
    """Stop sending for this program, with one alert, until `probe_paused` finds the key working."""
    async with core.store.begin() as tx:
        if not await programs.pause(tx, program, error.code or "UNAUTHORIZED"):
            return
        subject = f"program:{program}"
        await audit.record(tx, core, _BY, "program.paused", subject, reason_code=error.code or "")
        condition = account_alerts.KEY_TROUBLE.condition(program)
        await alerts.raise_(
            tx,
            core,
            account_alerts.key_trouble(program),
            condition=condition,
            subject=program,
            program=program,
        )


async def _hold(core: Core, program: str, error: Forbidden) -> None:
    """Send nothing through this endpoint until its key may call it."""
    endpoint = error.operation.value
    async with core.store.begin() as tx:
        if not await held_endpoints.put(tx, program, endpoint, error.message):
            return
        await audit.record(tx, core, _BY, "endpoint.held", f"program:{program}", {"endpoint": endpoint})
        said = account_alerts.SCOPE.says(program=program, endpoint=endpoint, error=error.message)
        condition = account_alerts.SCOPE.condition(program, endpoint)
        await alerts.keep(
            tx, core, said, condition=condition, subject=program, program=program, facts={"program": program}
        )


async def release(tx: Tx, core: Core, program: str, endpoint: str, *, by: str = _BY) -> None:
    """Go on sending through this endpoint: its key may call it, or somebody wants to find out."""
    if await held_endpoints.drop(tx, program, endpoint):
        await requests.due_at_once(tx, program)
        await audit.record(tx, core, by, "endpoint.released", f"program:{program}", {"endpoint": endpoint})
        await alerts.resolve(tx, core, account_alerts.SCOPE.condition(program, endpoint), actor=by)
        tx.after_commit(core.carrier.wake)


async def probe_paused(core: Core) -> None:
    """Ask each program that is held for its account with the key, and let go what the key may do again."""
    async with core.store.read() as tx:
        paused = {p.name for p in await programs.all(tx) if p.is_paused}
        held = {name: await held_endpoints.of(tx, name) for name in core.partners}
    due = [program for program in core.partners if program in paused or held[program]]
    # Side by side: one that does not answer keeps no other from going on.
    await asyncio.gather(
        *(_probe(core, program, held[program], is_paused=program in paused) for program in due)
    )


async def _probe(
    core: Core, program: str, held: Collection[held_endpoints.HeldEndpoint], *, is_paused: bool
) -> None:
    try:
        me = await core.partners[program].me()
        await require_same_account(core, program, me.partner.id)
        scopes = me.key.scopes
    except (PartnerError, OtherAccount):
        scopes = None
    if is_paused and scopes is not None:
        await resume(core, program)
    async with core.store.begin() as tx:
        for one in held:
            is_over = await _nothing_waits_for(tx, core, one)
            if is_over or (scopes is not None and _may_call(scopes, one, tx.now)):
                await release(tx, core, program, one.endpoint)


def _may_call(scopes: Collection[str], held: held_endpoints.HeldEndpoint, now: datetime) -> bool:
    """Has the key the scope that was missing, or that this endpoint needs where the refusal named none?

    Such a refusal may have another cause, so it rests a while before the call is made again.
    """
    named = set(_SCOPE.findall(held.message))
    if not named and now < held.since + _RESTS_FOR:
        return False
    return (named or {_scope_of(held.endpoint)}) <= set(scopes)


def _scope_of(endpoint: str) -> str:
    """The scope that a call needs, as the API document lists them [Authentication 5]."""
    method, _, path = endpoint.partition(" ")
    if "/pan" in path:
        return "cards:pan"
    areas = {"/deposits": "deposits", "/cards": "cards"}
    area = next((areas[start] for start in areas if path.startswith(start)), "users")
    reads = method == "GET" or path == "/cards/balances"
    if path == "/events" and reads:
        area = "cards"
    return f"{area}:{'read' if reads else 'write'}"


async def _nothing_waits_for(tx: Tx, core: Core, held: held_endpoints.HeldEndpoint) -> bool:
    """Every request that would be sent through it has ended; the next one finds out by itself. Readings go on."""
    endpoint = next((e for e in ENDPOINTS if e.value == held.endpoint), None)
    kinds = asking(core.kinds, endpoint) if endpoint is not None else ()
    if not kinds:
        return False
    states = (State.APPROVED, State.EXECUTING)
    waiting = await requests.find(
        tx, program=held.program, states=states, kinds=kinds, each_row=True, limit=1
    )
    return not waiting


async def resume(core: Core, program: str) -> None:
    """The API takes the key again."""
    async with core.store.begin() as tx:
        if await programs.unpause(tx, program):
            await requests.due_at_once(tx, program)
            await audit.record(tx, core, _BY, "program.resumed", f"program:{program}")
            case = "" if await pauses.of(tx, program) is None else "paused"
            for kind in (account_alerts.KEY_TROUBLE, account_alerts.ACCOUNT_CHANGED):
                await alerts.resolve(tx, core, kind.condition(program), case=case)
            tx.after_commit(core.carrier.wake)


async def is_paused(core: Core, program: str) -> bool:
    """The API does not take the program's key."""
    async with core.store.read() as tx:
        return (await stops.of(tx, program)).by_key


async def why_paused(tx: Tx, program: str) -> str:
    """Why nothing is sent to this program, in a sentence; empty while it is."""
    known = await programs.get(tx, program)
    drafts = draft_only.sentence(program) if known is not None and known.is_draft_only else ""
    paused = await pauses.of(tx, program)
    if paused is not None:
        return f"{drafts} {sentence(paused)}".lstrip()
    if known is not None and not await programs.is_as_left(tx, program):
        return (
            f"Somebody changed what is stored of {program}, so nothing is sent to it. An admin sets its key again with"
            " `countersign keys set`."
        )
    if drafts:
        return drafts
    if known is not None and known.paused_at is not None:
        since = f"{known.paused_at:%Y-%m-%d %H:%M} UTC"
        return f"Sending to {program} is paused since {since}: {cause_of(known)}."
    return ""


async def why_waits(tx: Tx, program: str, *, is_urgent: bool) -> str:
    """As `why_paused`, and of what can wait also why it waits for a look after a start."""
    return await why_paused(tx, program) or ("" if is_urgent else await start_holds.why(tx, program))


def cause_of(paused: programs.Program) -> str:
    """Why a program is paused that is paused for its key, as the end of a sentence."""
    return _CAUSES.get(paused.paused_reason or "", _NO_KEY)


async def is_draft_only(tx: Tx, program: str) -> bool:
    """Requests to this program are made and approved for practice, and nothing is sent."""
    known = await programs.get(tx, program)
    return known is not None and known.is_draft_only


async def says_draft_only(tx: Tx, core: Core, program: str | None) -> bool:
    """Does a message of this program begin with DRAFT ONLY? One that belongs to all does where all are for drafts."""
    if program:
        return await is_draft_only(tx, program)
    return all([await is_draft_only(tx, name) for name in core.partners])


async def any_draft_only(tx: Tx) -> bool:
    """Is this so of any program?"""
    return any(known.is_draft_only for known in await programs.all(tx))


async def why_held(tx: Tx, program: str) -> str:
    """Which calls its key may not make, in a sentence; empty where it may make all that were tried."""
    held = await held_endpoints.of(tx, program)
    if not held:
        return ""
    since = f"{min(one.since for one in held):%Y-%m-%d %H:%M} UTC"
    return f"The key of {program} may not call {', '.join(one.endpoint for one in held)} since {since}."


async def paused_now(core: Core, program: str) -> str:
    """As `why_paused`, for whoever has no transaction."""
    async with core.store.read() as tx:
        return await why_paused(tx, program)


def sentence(paused: Pause) -> str:
    since = f"{paused.since:%Y-%m-%d %H:%M} UTC"
    return (
        f"Sending to {paused.program} is paused since {since} by {paused.by_name}: {with_stop(paused.reason)}"
    )
