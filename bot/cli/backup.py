"""`countersign backup` and `restore`: a checked copy of the database, and back, into safe mode."""

from __future__ import annotations

from pathlib import Path

from bot.cli import terminal
from bot.cli.environment import settings
from bot.config import Need


def _in_words(requests: int, entries: int, at: str) -> str:
    return f"{requests:,} requests, {entries:,} audit entries, the last of {at}"


async def back_up(target: Path) -> None:
    """Works beside a running bot."""
    from bot.domain.time import SystemClock
    from storage import maintenance
    from storage.vault import Keyring, Vault

    found = settings(Need.MASTER_KEY)
    assert found.master_key is not None  # noqa: S101 - Need.MASTER_KEY made sure
    vault = Vault(Keyring.parse(found.master_key.read().reveal()))
    copied = await maintenance.back_up(found.database_url, target, vault=vault, clock=SystemClock())
    at = f"{copied.last_entry_at:%Y-%m-%d %H:%M:%S} UTC" if copied.last_entry_at else "no time"
    terminal.echo(f"{target} is written and checked: {_in_words(copied.requests, copied.audit_entries, at)}.")
    terminal.echo("Keep it apart from the master key, without which nobody can use it.")


async def restore(copy: Path) -> None:
    """The bot has to be stopped."""
    from bot.domain.time import SystemClock
    from storage import maintenance
    from storage.vault import Keyring, Vault

    found = settings(Need.MASTER_KEY)
    assert found.master_key is not None  # noqa: S101 - Need.MASTER_KEY made sure
    vault = Vault(Keyring.parse(found.master_key.read().reveal()))
    copied, kept = await maintenance.put_back(found.database_url, copy, vault=vault, clock=SystemClock())
    at = f"{copied.last_entry_at:%Y-%m-%d %H:%M:%S} UTC" if copied.last_entry_at else "no time"
    terminal.echo(f"{copy} is in place: {_in_words(copied.requests, copied.audit_entries, at)}.")
    if kept is not None:
        terminal.echo(f"The database that was there is kept as {kept}.")
    terminal.echo(
        "The next start is in safe mode: nothing is sent, approvals of before are void, and debits that this copy does"
        " not know are listed in the alerts channel, with who gets one-time codes by this copy, from the start on. Two"
        " people leave it with /countersign resume."
    )
