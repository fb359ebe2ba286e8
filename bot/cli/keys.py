"""`countersign keys …`: Partner API keys and the master key that seals them."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli import terminal
from bot.cli.terminal import ExitCode, Mistake, in_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.partner.secret import Secret
    from storage.transaction import Tx

app = typer.Typer(help="Partner API keys, and the master key that seals them.", no_args_is_help=True)

_MOST_NAMED = 20
_SET_AGAIN = {
    "program.sealed_key ": "set the API key again, with countersign keys set PROGRAM.",
    "webhook_secret.sealed_secret ": "make another secret, with /countersign webhook rotate in Slack.",
    "passkey.sealed_key ": "its person adds another one, with /countersign passkey add in Slack.",
}
_PROGRAM = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@app.command("set")
@in_sentences
def set_key(
    program: Annotated[str, typer.Argument(help="The program's name here: small letters, digits, - and _.")],
    url: Annotated[
        str, typer.Option(help="The API's address with /api/partner/v1; needed the first time.")
    ] = "",
) -> None:
    """Seal a Partner API key into the database. The key is read from standard input.

    An empty database is set up first. A bot that runs on the same SQLite file has to be stopped first; any bot takes
    the key at its start.
    """
    if not _PROGRAM.fullmatch(program):
        raise Mistake("A program's name is 1 to 40 small letters, digits, - and _, for example main.")
    asyncio.run(_set(program, url.rstrip("/"), _read_key()))


@app.command()
@in_sentences
def remove(
    program: Annotated[str, typer.Argument(help="A name that `countersign keys list` shows.")],
) -> None:
    """Remove a program and its key, for which nothing was ever requested, such as one with a mistyped name.

    A bot that runs on the same SQLite file has to be stopped first; any bot forgets the program at its next start.
    """
    asyncio.run(_remove(program))


@app.command("list")
@in_sentences
def list_keys(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the programs and the beginnings of their keys. Works beside a running bot."""
    asyncio.run(_list(as_json=as_json))


@app.command()
@in_sentences
def new_master() -> None:
    """Print a new master key: one line of a keyring.

    Keep it outside the database, readable by the bot alone:
    (umask 077; countersign keys new-master > master.key)
    """
    from storage.vault import new_master as make

    terminal.echo(make())


@app.command()
@in_sentences
def rewrap() -> None:
    """Seal and sign everything again under the first key of the keyring, and retire the others.

    A retired key proves old audit entries, for as long as its line is in the keyring, and opens, signs and approves
    nothing. Put the new key first everywhere before. May be stopped and run again, beside a running bot.

    What somebody else wrote into the database is left as it is, and named: cells that cannot be read or opened, and
    requests that are not as on record. The older keys are retired all the same. It exits 1 then.
    """
    asyncio.run(_rewrap())


@app.command()
@in_sentences
def verify(
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object: first_key, sealed, not_opening.")
    ] = False,
) -> None:
    """Check that everything is sealed under the first key of the keyring. Exits 1 while something is not."""
    asyncio.run(_verify(as_json=as_json))


@app.command()
@in_sentences
def relay(
    destination: Annotated[str, typer.Argument(help="A name of [[relay.destinations]].")],
) -> None:
    """Print the secret with which a destination of the relay verifies what it gets. Audited.

    It is made from the master key and stored nowhere: give it to the other system and forget it. With two
    master keys in the keyring there are two, and messages are signed with both. Works beside a running bot.
    """
    asyncio.run(_relay(destination))


@app.command()
@in_sentences
def reset_passkeys() -> None:
    """End every passkey, where too few people have one left. The next one is then confirmed by a click. Audited.

    In safe mode this goes on with the copy: do not put the newer database back afterwards.

    Whoever may do this may let anybody approve: do it with the people in one room. Works beside a running bot.
    """
    asyncio.run(_reset_passkeys())


def _read_key() -> Secret:
    """The key from standard input, unseen when typed: an argument would stay in the shell's history."""
    from getpass import getpass

    from bot.partner.secret import Secret

    text = (getpass("Partner API key: ") if sys.stdin.isatty() else sys.stdin.read()).strip()
    if not text:
        raise Mistake("No key came on standard input. Pipe it in, or type it when asked.")
    if len(text.split()) != 1:
        raise Mistake("A key has no spaces and is one line: standard input held something else.")
    return Secret(text)


async def _set(name: str, url: str, key: Secret) -> None:
    from bot.cli.environment import open_store, operator, settings
    from bot.config import PARTNER_PATH, Need
    from bot.partner.key_guard import AccessRefused, check_access
    from storage import audit
    from storage.migrate import migrate_if_empty
    from storage.operators import programs

    await migrate_if_empty(settings(Need.MASTER_KEY).database_url)
    async with open_store(beside_the_bot=False) as store, store.begin() as tx:
        known = await programs.get(tx, name)
        address = url or (known.base_url if known else "")
        if not address:
            raise Mistake(f"{name} is new here: give its address with --url https://host{PARTNER_PATH}")
        if not address.endswith(PARTNER_PATH):
            raise Mistake(f"The address must end in {PARTNER_PATH}.")
        try:
            check_access(address, key)
        except AccessRefused as refusal:
            raise Mistake(str(refusal)) from None
        program = await programs.put(tx, name, base_url=address, key=key, whatever_was_changed=True)
        await audit.append(
            tx,
            actor=operator(),
            action="key.set",
            subject=f"program:{name}:{program.key_version}",
            body={"base_url": address, "key_prefix": program.key_prefix},
        )
    terminal.echo(
        f"{name}: key {program.key_prefix}… is sealed (version {program.key_version}), for {address}."
    )


async def _remove(name: str) -> None:
    from bot.cli.environment import open_store, operator
    from storage import audit
    from storage.operators import programs

    async with open_store(beside_the_bot=False) as store, store.begin() as tx:
        requests = await programs.count_requests(tx, name)
        if requests:
            raise Mistake(
                f"{name} has {requests} request(s), whose record needs it, so it stays. To send nothing to it, type"
                f" /countersign pause {name} in Slack."
            )
        removed = await programs.remove(tx, name)
        await audit.append(
            tx,
            actor=operator(),
            action="key.removed",
            subject=f"program:{name}:{removed.key_version}",
            body={"base_url": removed.base_url, "key_prefix": removed.key_prefix},
        )
    terminal.echo(f"{name} and its key {removed.key_prefix}… are removed.")


async def _list(*, as_json: bool) -> None:
    import json

    from bot.cli.environment import open_store
    from storage.errors import LogNotWhole
    from storage.log_record import on_record
    from storage.operators import programs

    async with open_store(beside_the_bot=True) as store, store.read() as tx:
        found = await programs.all(tx)
        with suppress(LogNotWhole):  # `countersign audit verify` says so
            await on_record.of(tx)
        older = await programs.with_older_key(tx)
    for program in found:
        if as_json:
            shown = {
                name: getattr(program, name) for name in ("name", "key_prefix", "key_version", "base_url")
            }
            more = {"paused_reason": program.paused_reason, "was_put_back": program.name in older}
            terminal.echo(json.dumps({**shown, **more}))
            continue
        paused = f"  paused: {program.paused_reason}" if program.is_paused else ""
        key = f"{program.key_prefix}…  version {program.key_version}"
        put_back = "  replaced by the audit log, put back by somebody: set the key again"
        row = f"{program.name}  {key}  {program.base_url}{put_back if program.name in older else ''}{paused}"
        terminal.echo(terminal.in_a_line(row))
    if not found and not as_json:
        terminal.echo("No program has a key yet: countersign keys set main --url https://host/api/partner/v1")


async def _relay(name: str) -> None:
    from bot.cli.environment import open_store, operator, settings
    from bot.config import Config
    from bot.domain.events import secret_text
    from storage import audit

    known = [destination.name for destination in Config.load(settings().config_path).destinations]
    if name not in known:
        raise Mistake(f"There is no destination {name}. There are: {', '.join(known) or 'none'}.")
    async with open_store(beside_the_bot=True) as store:
        async with store.begin() as tx:
            await audit.append(tx, actor=operator(), action="relay.secret_shown", subject=f"relay:{name}")
        for key in store.vault.derived("relay_secret", name):
            terminal.echo(secret_text(key))


async def _rewrap() -> None:
    from bot.cli.environment import open_store, operator
    from bot.services.operators import key_change

    async with open_store(beside_the_bot=True, checks_canaries=False) as store:
        done = await key_change.to_the_first_key(store, operator())
        first = store.vault.primary_kid
    terminal.echo(f"{done.moved} sealed value(s) moved to the master key {first}.")
    if done.signed.count:
        terminal.echo(
            f"{done.signed.count} open request(s) signed again. Who has one of them in a dialog has to open it again."
        )
    for kid in done.retired:
        terminal.echo(f"The master key {kid} is retired: it proves old entries, and does nothing else.")
    _say_what_was_left(done.cells, done.signed.not_as_on_record)


def _say_what_was_left(cells: Sequence[str], requests: Sequence[str]) -> None:
    """What somebody else wrote into the database, which is not moved or signed. Exits 1 where there is any."""
    if cells:
        terminal.echo(
            f"{len(cells)} cell(s) of the database cannot be read or opened, as somebody changed them. They are not"
            " used, and keep nothing from being moved. See “A cell that keys rewrap names” in the runbook:",
            err=True,
        )
        for cell in cells[:_MOST_NAMED]:
            terminal.echo(f"  {terminal.in_a_line(cell)}", err=True)
        if len(cells) > _MOST_NAMED:
            terminal.echo(f"  and {len(cells) - _MOST_NAMED} more", err=True)
        for begins, what in _SET_AGAIN.items():
            if any(cell.startswith(begins) for cell in cells):
                terminal.echo(f"{begins.strip()} is lost: {what}", err=True)
    if requests:
        terminal.echo(
            f"{len(requests)} request(s) not signed again, as somebody changed their rows in the database:"
            f" {terminal.in_a_line(', '.join(requests))}. Nothing is sent for them. See “tampered” in the runbook.",
            err=True,
        )
    if cells or requests:
        raise typer.Exit(ExitCode.NOT_WELL)


async def _reset_passkeys() -> None:
    from bot.cli.environment import anchor_places, open_store
    from storage import audit
    from storage.errors import LogNotWhole

    async with open_store(beside_the_bot=True) as store:
        async with store.begin() as tx:
            count = await _end_every_passkey(tx)
            anchor = await audit.anchor(tx)
        if anchor is not None:  # that they have ended is known outside the database, too
            await anchor_places(store).write(anchor)
        async with store.read() as tx:  # a trigger may have undone it with the commit
            if (lacked := await audit.lacked(tx)) is not None:
                raise LogNotWhole(lacked.seq, "head")
    terminal.echo(
        f"{count} passkey(s) ended. Now add the first two together: /countersign passkey add in Slack."
    )


async def _end_every_passkey(tx: Tx) -> int:
    from bot.cli.environment import operator
    from storage import audit
    from storage.errors import ChangedOutside
    from storage.operators import passkeys, passkeys_on_record

    ended = await passkeys.everybodys(tx)
    for one in ended:
        if not await passkeys.end(tx, one, "reset"):
            raise ChangedOutside(passkeys.NOT_ENDED.format(id=one.id))
        body = {"person": one.slack_id, "why": "reset"}
        subject = f"passkey:{one.id}"
        await audit.append(tx, actor=operator(), action=passkeys_on_record.ENDED, subject=subject, body=body)
    await _end_what_was_asked(tx)
    await audit.append(tx, actor=operator(), action=passkeys_on_record.RESET, subject="passkey:all")
    return len(ended)


async def _end_what_was_asked(tx: Tx) -> None:
    """A passkey that was to be added, and a loss that was reported, are about those of before."""
    from bot.cli.environment import operator
    from storage import audit
    from storage.requests import confirmations

    for one in await confirmations.open_ones(tx):
        if one.kind.startswith("passkey_") and await confirmations.end(tx, one.id, "expired"):
            body = {"kind": one.kind, "about": one.subject, "asked_by": one.asked_by, **one.terms}
            subject = f"consent:{one.id}"
            await audit.append(tx, actor=operator(), action="consent.expired", subject=subject, body=body)


async def _verify(*, as_json: bool) -> None:
    import json
    from collections import Counter

    from bot.cli.environment import open_store
    from storage import key_rotation

    async with open_store(beside_the_bot=True) as store, store.read() as tx:
        in_use = Counter(await key_rotation.kids_in_use(tx))
        spoiled = await key_rotation.not_opening(tx)
    primary = store.vault.primary_kid
    in_use.subtract(one.kid for one in spoiled)
    old = {kid: count for kid, count in in_use.items() if kid != primary and count > 0}
    if as_json:
        sealed = {kid: count for kid, count in in_use.items() if count > 0}
        shown = {"first_key": primary, "sealed": sealed, "not_opening": list(map(str, spoiled))}
        terminal.echo(json.dumps(shown))
        raise typer.Exit(ExitCode.NOT_WELL if old or spoiled else ExitCode.DONE)
    terminal.echo(f"{in_use.get(primary, 0)} sealed value(s) under the first master key, {primary}.")
    for kid, count in sorted(old.items()):
        terminal.echo(f"{count} still under {terminal.in_a_line(kid)}: run countersign keys rewrap", err=True)
    if spoiled:
        _say_what_was_left(list(map(str, spoiled)), ())
    if old:
        raise typer.Exit(ExitCode.NOT_WELL)
