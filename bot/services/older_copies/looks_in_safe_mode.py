"""What a look at the ledger or at Slack has seen in the safe mode in force: that is what it is about.

A later start looks again. What it sees beyond that was done since this database was copied, in safe mode: people have
left it, and what they did then is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.partner.models import LedgerEntry
from bot.services.alerts import unsent_debits
from bot.services.core import SLACK
from storage.audit import Anchor
from storage.cards import api_snapshots
from storage.operators import SafeMode, safe_mode
from storage.transaction import Tx

# Whose look it is: a program's at its ledger, or that of none at Slack.
_LOOKED = "looked_in_safe_mode"
# More than the messages that one look reads.
_LOST_MOST = 20_000


async def is_noted(tx: Tx, mode: SafeMode, what: str) -> bool:
    """Was a look at `what` (a program, or `SLACK`) noted in this safe mode?"""
    kept = await api_snapshots.get_signed(tx, what, _LOOKED)
    return kept is not None and kept.value["mode"] == mode.mark


async def note_ledger(tx: Tx, program: str, found: Sequence[LedgerEntry]) -> None:
    """A look has found these rows. Nothing is noted where no safe mode is in force."""
    mode = await safe_mode.current(tx)
    if mode is not None:
        # People read of them once the thread of its alert lists them.
        await safe_mode.add_orphans(
            tx, [unsent_debits.orphan(program, one, found_at=tx.now, listed_at=None) for one in found]
        )
        await api_snapshots.put_signed(tx, program, _LOOKED, {"mode": mode.mark})


async def note_slack(tx: Tx, found: Sequence[datetime], beyond: Sequence[Anchor]) -> None:
    """A look has found messages of these times, by Slack's clock, and some that were drawn with these ends of the log.
    Nothing is noted where no safe mode is in force."""
    mode = await safe_mode.current(tx)
    if mode is not None:
        before = await lost_messages_until(tx)
        until = max([*found, *([before] if before else [])], default=None)
        lost = [*await _lost_hashes(tx), *(one.hash for one in beyond)][-_LOST_MOST:]
        value = {"mode": mode.mark, "until": until.isoformat() if until else "", "lost": lost}
        await api_snapshots.put_signed(tx, SLACK, _LOOKED, value)


async def lost_messages_until(tx: Tx) -> datetime | None:
    """By Slack's clock: the newest message that was lost with an earlier copy, as far as a look has seen it."""
    kept = await api_snapshots.get_signed(tx, SLACK, _LOOKED)
    return datetime.fromisoformat(kept.value["until"]) if kept is not None and kept.value["until"] else None


async def without_lost(tx: Tx, beyond: Sequence[Anchor]) -> list[Anchor]:
    """Of these ends of the log those that no look has seen as lost with an earlier copy."""
    lost = set(await _lost_hashes(tx))
    return [one for one in beyond if one.hash not in lost]


async def _lost_hashes(tx: Tx) -> list[str]:
    kept = await api_snapshots.get_signed(tx, SLACK, _LOOKED)
    return list(kept.value["lost"]) if kept is not None else []
