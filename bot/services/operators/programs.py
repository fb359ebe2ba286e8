"""Programs and their keys: paused when the API does not take the key or it is of another account, running again when
it is taken and of the known one.

That somebody stopped sending (`bot.services.operators.pausing`) is another pause, which only people end.
"""

from __future__ import annotations

from bot.domain.alerts import account_alerts
from bot.domain.errors import Paused
from bot.partner.errors import Forbidden, PartnerError
from bot.services import alerts, audit
from bot.services.core import Core
from storage.operators import Pause, pauses, programs
from storage.transaction import Tx

# After a 403 a key must have both before it is trusted again, or each request would pause the program anew.
_WRITE_SCOPES = frozenset({"cards:write", "users:write"})

OTHER_ACCOUNT, NOT_READ = "OTHER_ACCOUNT", "ACCOUNT_NOT_READ"
"""Why a program is paused, besides the codes of the API: whose account its key is of is wrong, or not known yet."""
_CAUSES = {
    OTHER_ACCOUNT: "its key belongs to another account than before",
    NOT_READ: "its account could not be read at the start, so nobody knows yet whose the key is",
}
_NO_KEY = "the API does not take the key"


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
            await alerts.resolve(tx, core, account_alerts.KEY_TROUBLE.condition(program))
            said = account_alerts.ACCOUNT_CHANGED.says(program=program)
            condition = account_alerts.ACCOUNT_CHANGED.condition(program)
            await alerts.raise_(tx, core, said, condition=condition, subject=program)
    raise OtherAccount(
        f"The key of {program} belongs to another account than before, so nothing of it is shown or sent. Set the key"
        " of the known account, or use another program name for another account."
    )


async def pause(core: Core, program: str, error: PartnerError) -> None:
    """Stop sending for this program, with one alert, until `probe_paused` finds the key working."""
    async with core.store.begin() as tx:
        if not await programs.pause(tx, program, error.code or "UNAUTHORIZED"):
            return
        by, subject = "system:execution", f"program:{program}"
        await audit.record(tx, core, by, "program.paused", subject, reason_code=error.code or "")
        refusal = error.message if isinstance(error, Forbidden) else None
        said = account_alerts.key_trouble(program, refusal=refusal)
        await alerts.raise_(
            tx, core, said, condition=account_alerts.KEY_TROUBLE.condition(program), subject=program
        )


async def probe_paused(core: Core) -> None:
    """Ask each paused program for its account with the key; running again when it answers."""
    async with core.store.read() as tx:
        paused = [p for p in await programs.all(tx) if p.paused_reason and p.name in core.partners]
    for program in paused:
        try:
            me = await core.partners[program.name].me()
            await require_same_account(core, program.name, me.partner.id)
        except (PartnerError, OtherAccount):
            continue
        if program.paused_reason == "FORBIDDEN" and not set(me.key.scopes) >= _WRITE_SCOPES:
            continue
        await resume(core, program.name)


async def resume(core: Core, program: str) -> None:
    async with core.store.begin() as tx:
        if await programs.unpause(tx, program):
            await audit.record(tx, core, "system:execution", "program.resumed", f"program:{program}")
            for kind in (account_alerts.KEY_TROUBLE, account_alerts.ACCOUNT_CHANGED):
                await alerts.resolve(tx, core, kind.condition(program))


async def is_paused(core: Core, program: str) -> bool:
    async with core.store.read() as tx:
        found = await programs.get(tx, program)
    return found is not None and found.paused_reason is not None


async def why_paused(tx: Tx, program: str) -> str:
    """Why nothing is sent to this program, in a sentence; empty while it is."""
    paused = await pauses.of(tx, program)
    if paused is not None:
        return sentence(paused)
    known = await programs.get(tx, program)
    if known is not None and known.paused_at is not None:
        since = f"{known.paused_at:%Y-%m-%d %H:%M} UTC"
        cause = _CAUSES.get(known.paused_reason or "", _NO_KEY)
        return f"Sending to {program} is paused since {since}: {cause}."
    return ""


async def paused_now(core: Core, program: str) -> str:
    """As `why_paused`, for whoever has no transaction."""
    async with core.store.read() as tx:
        return await why_paused(tx, program)


def sentence(paused: Pause) -> str:
    since = f"{paused.since:%Y-%m-%d %H:%M} UTC"
    return f"Sending to {paused.program} is paused since {since} by {paused.by_name}: {paused.reason}"
