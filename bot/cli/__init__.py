"""The `countersign` command.

Commands are thin: read settings, call the part that does the work, print. Everything heavy is imported
inside them, so that `--help` and a mistyped option answer at once. This package alone may start the
sandbox. Exit codes: 0 done, 1 not done or not well, 2 cannot be done as asked (usage, settings, a
database that cannot be read), 78 a master key that does not fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli import audit, config, keys, terminal
from bot.cli.terminal import in_sentences, whole_output

app = typer.Typer(
    name="countersign",
    help="Card operations in Slack, with a second signature on everything that moves money.",
    epilog="New here? `countersign demo` runs the whole product on this machine, with no account anywhere.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(keys.app, name="keys")
app.add_typer(config.app, name="config")
app.add_typer(audit.app, name="audit")

_HOST_HELP = (
    "Address to listen on too; 0.0.0.0 is every address of this machine. Everyone who reaches it can act as anybody, so"
    " put no real token, key or card number there."
)


def main() -> None:
    """Entry point of the `countersign` command."""
    with whole_output():
        app()


def _version(wanted: bool) -> None:
    if wanted:
        import bot

        terminal.echo(f"countersign {bot.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of the command itself; the callback of --version does all there is to do."""


@app.command()
@in_sentences
def demo(
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the state of the last demo first.")] = False,
    port: Annotated[
        int, typer.Option(min=1024, max=65532, help="Slack page; the next two ports are used too.")
    ] = 8400,
    host: Annotated[str, typer.Option(help=_HOST_HELP)] = "127.0.0.1",
    passkeys: Annotated[
        bool, typer.Option("--passkeys", help="Every approval is given with a passkey.")
    ] = False,
) -> None:
    """Run the whole product on this machine: sandbox and bot, with no account anywhere.

    The state is kept in var/demo and survives a restart. Ctrl-C ends it.
    """
    from bot.cli.demo import run_demo
    from bot.cli.serving import run

    run(run_demo(port, host=host, fresh=fresh, passkeys=passkeys))


@app.command()
@in_sentences
def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; made if it is not there.")] = Path("."),
    approvers: Annotated[
        str | None,
        typer.Option(help="A user group of Slack, or member ids with commas.", show_default="is asked"),
    ] = None,
    approvals_channel: Annotated[
        str | None, typer.Option(help="Channel for requests.", show_default="is asked")
    ] = None,
    alerts_channel: Annotated[
        str | None, typer.Option(help="Channel for alerts.", show_default="is asked")
    ] = None,
    draft_only: Annotated[
        bool | None,
        typer.Option("--draft-only/--live", help="Send nothing, for practice.", show_default="is asked"),
    ] = None,
    database_url: Annotated[
        str | None, typer.Option(help="sqlite:///… or postgresql://…", show_default="is asked")
    ] = None,
) -> None:
    """Write what a first start needs: countersign.toml, a master key and .env, from five answers.

    Overwrites nothing. What an option says is not asked.
    """
    from bot.cli.initial_files import Answers, write

    write(folder, Answers(approvers, approvals_channel, alerts_channel, draft_only, database_url))


@app.command("run")
@in_sentences
def run_bot(
    no_migrate: Annotated[
        bool, typer.Option("--no-migrate", help="Refuse to start instead of upgrading the database.")
    ] = False,
    roles: Annotated[
        str,
        typer.Option(
            help="What this process does, on PostgreSQL: any of slack, web and worker, with commas."
        ),
    ] = "slack,web,worker",
) -> None:
    """Run the bot in production. Settings come from the environment, decisions from countersign.toml.

    SIGTERM or Ctrl-C ends it when what runs is done, within ten seconds. A second one ends it at once.
    """
    from bot.cli.production import run_production
    from bot.cli.serving import run

    run(run_production(migrate=not no_migrate, roles=roles))


@app.command()
@in_sentences
def sandbox(
    slack_port: Annotated[int, typer.Option(min=0, max=65535, help="Slack stand-in; 0 = off.")] = 8400,
    partner_port: Annotated[int, typer.Option(min=0, max=65535, help="Partner API; 0 = off.")] = 8401,
    host: Annotated[str, typer.Option(help=_HOST_HELP)] = "127.0.0.1",
    name: Annotated[
        list[str] | None,
        typer.Option(help="A host name by which it may be called, such as a compose service; repeatable."),
    ] = None,
    key: Annotated[str | None, typer.Option(help="API key to accept: svc_live_00000000….")] = None,
    seed: Annotated[str | None, typer.Option(help="Fixes ids, tokens and the key.")] = None,
    state: Annotated[
        Path | None, typer.Option(help="Keep the state beside this name, over a restart.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="The app's manifest; Countersign's own by default.")
    ] = None,
    people: Annotated[Path | None, typer.Option(help="The people and user groups, YAML or JSON.")] = None,
    channels: Annotated[Path | None, typer.Option(help="The channels, YAML or JSON.")] = None,
    request_url: Annotated[
        str | None, typer.Option(help="Deliver over signed HTTP to this address, not over Socket Mode.")
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="Gets addresses and tokens as JSON once everything listens.")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(help="What new state of the partner simulator begins with, by name or as a file."),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="HAR", help="Play an HTTP archive, print what is answered otherwise, and end."),
    ] = None,
) -> None:
    """Run the sandbox alone, for testing a bot or a Partner API client against.

    Prints the addresses, the tokens and the key to use.
    """
    import asyncio

    from bot.cli.sandboxes import MANIFEST, opened_to, run_sandbox
    from bot.cli.serving import run
    from sandbox.command import compare
    from sandbox.launching import Launch

    if replay is not None:
        raise typer.Exit(asyncio.run(compare(replay)))
    options = Launch(
        manifest=manifest or MANIFEST,
        slack_port=slack_port,
        partner_port=partner_port,
        open_to=opened_to(host),
        names=name or (),
        key=key,
        seed=seed,
        state=state,
        people=people,
        channels=channels,
        request_url=request_url,
        ready_file=ready_file,
        scenario=scenario,
    )
    run(run_sandbox(options))


@app.command()
@in_sentences
def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object: wrong, to_check, findings.")
    ] = False,
) -> None:
    """Test every token, permission, key, channel, person, address and folder, and say what to fix. Changes nothing.

    ✗ is wrong and would stop or mislead the bot; ! is only to check. Exits 1 when anything is wrong, else 0. Works
    beside a running bot.
    """
    from bot.cli.doctor import doctor_command

    doctor_command(as_json=as_json)


@app.command()
@in_sentences
def manifest() -> None:
    """Print the manifest of the Slack app: paste it where Slack asks for one."""
    terminal.echo(Path(__file__).with_name("manifest.yml").read_text(encoding="utf-8").removesuffix("\n"))


@app.command()
@in_sentences
def migrate() -> None:
    """Upgrade the database to this version, making it first if there is none.

    An SQLite file is copied beside itself before it is changed.
    """
    import asyncio

    from bot.cli.environment import settings
    from storage.migrate import migrate as upgrade

    revision = asyncio.run(upgrade(settings().database_url))
    terminal.echo(f"The database is at revision {revision}.")


@app.command()
@in_sentences
def backup(file: Annotated[Path, typer.Argument(help="A new file; nothing is overwritten.")]) -> None:
    """Write a copy of the database to FILE and check it. Works beside a running bot.

    FILE is one SQLite file, whichever the database is. What is sealed in it stays sealed.
    """
    from bot.cli.backup import back_up
    from bot.cli.serving import run_until_terminated

    run_until_terminated(back_up(file))


@app.command()
@in_sentences
def restore(file: Annotated[Path, typer.Argument(help="What `countersign backup` wrote.")]) -> None:
    """Put a backup in place of the database, and start in safe mode next time. Stop every bot first.

    An SQLite file that is replaced is kept beside it. On PostgreSQL the database of the settings must be empty.
    """
    import asyncio

    from bot.cli.backup import restore as put_back

    asyncio.run(put_back(file))


@app.command()
@in_sentences
def backfill(
    since: Annotated[
        str, typer.Option(help="Read events from this time on, as ISO time; UTC unless it says otherwise.")
    ],
) -> None:
    """Pull the event log of every program into the inbox. Works beside a running bot.

    Events that are there already change nothing, so it may be stopped and run again.
    """
    import asyncio

    from bot.cli.backfill import pull

    asyncio.run(pull(since))


@app.command()
@in_sentences
def parse(
    text: Annotated[str | None, typer.Argument(help="What a person wrote; default standard input.")] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            help="JSON file with now, tz, week_starts and cards to read by; default the database's cards."
        ),
    ] = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help='One JSON object {"text": ...} a line instead of one text.')
    ] = False,
    unread: Annotated[
        bool,
        typer.Option(
            "--unread",
            help="List the texts that nobody understood, where [conversation] keep_unread is true.",
        ),
    ] = False,
) -> None:
    """Print what the conversational layer makes of a text. Requests nothing and sends nothing.

    Prints one JSON object a line: intent, slots, opened, ask. Works beside a running bot.
    """
    from bot.cli.parse import parse_command, unread_command

    if unread:
        unread_command()
        return
    parse_command(text, directory, jsonl=jsonl)
