"""`countersign demo`: sandbox and bot in one process, their state under var/demo."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from bot.cli import terminal, tour
from bot.cli.sandboxes import HOST, opened_to, start_partner, start_slack
from bot.cli.serving import port_taken, until_signalled
from bot.cli.terminal import Mistake
from bot.config import Bind, Settings

if TYPE_CHECKING:
    from bot.app import Running
    from bot.services.core import Core
    from sandbox.partner.server import Running as Partner
    from sandbox.slack import Running as Slack

FOLDER = Path("var/demo")
CONFIG = Path(__file__).with_name("demo.toml")
_TEAM_ZONE = 'timezone = "UTC"'
# What `--passkeys` changes in the policy. Two others confirm a passkey after a loss, so there are three approvers.
_PASSKEYS = (
    ("[policy.default]\n", "[policy.default]\npasskey = true\n"),
    (
        'approvers = ["@card-approvers"]     # Bob and Carol',
        'approvers = ["@card-approvers", "@alice"]     # Bob, Carol and Alice',
    ),
)
LOCAL_NAMES = ("127.0.0.1", "localhost")
# Where the card provider would find the bot; a name that leads nowhere else.
PUBLIC_HOST = "countersign.example.com"


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one demo."""

    folder: Path
    passkeys: bool = False

    @property
    def database(self) -> Path:
        return self.folder / "countersign.db"

    @property
    def partner(self) -> Path:
        return self.folder / "partner.db"

    @property
    def slack(self) -> Path:
        return self.folder / "slack.db"

    @property
    def master_key(self) -> Path:
        return self.folder / "master.key"

    @property
    def config(self) -> Path:
        """The policy; with passkeys another one, so that either can be changed and kept."""
        return self.folder / ("countersign-passkeys.toml" if self.passkeys else "countersign.toml")

    @property
    def log(self) -> Path:
        return self.folder / "countersign.log"


async def run_demo(port: int, *, host: str, fresh: bool, passkeys: bool = False) -> None:
    """Prepare the state, start everything, print the one address to open, run until a signal.

    `passkeys`: every approval is given with one.
    """
    from sandbox.listening import shown_host

    open_to = opened_to(host)
    shown = shown_host(open_to)
    places = Places(FOLDER.absolute(), passkeys)  # noqa: ASYNC240 - asks for the working directory, once
    if passkeys and host not in LOCAL_NAMES:
        raise Mistake("Passkeys need this machine's own name: start with --passkeys and without --host.")

    async def start(stack: AsyncExitStack) -> None:
        _lock(stack, places, f"http://{shown}:{port}")
        _prepare(places, fresh=fresh)
        suggested = tour.steps(f"http://{shown}:{port + 1}")
        slack = await start_slack(
            stack,
            port,
            option="--port",
            open_to=open_to,
            state=places.slack,
            tour=suggested,
            zone=_zone_here(),
        )
        partner = await start_partner(
            stack, port + 1, option="--port", open_to=open_to, state=places.partner, demo=True
        )
        # For deliveries, and for browsers: the page of card details.
        own = f"http://{shown}:{port + 2}"
        # Browsers know passkeys by name, not by IP address.
        page = f"http://localhost:{port + 2}" if passkeys else own
        _lead_deliveries(partner, own)
        settings = _settings(places, slack, partner, Bind(open_to or HOST, port + 2))
        running = await _start_bot(stack, settings, places, page)
        with _held_back(partner):
            await _register_webhook(running.core)
        _greet(shown, port, partner, passkeys=passkeys)

    await until_signalled(start)


def _lead_deliveries(partner: Partner, address: str) -> None:
    """The API registers public addresses only: the simulator finds this one on this machine."""
    from sandbox.partner.background import deliveries

    known = deliveries.hosts(partner.world)
    deliveries.change(partner.world, None, {**known, PUBLIC_HOST: address})


@contextmanager
def _held_back(partner: Partner) -> Iterator[None]:
    """No delivery leaves meanwhile: the first would come before the bot knows the secret that signs it."""
    from sandbox.partner.background import deliveries

    mode = deliveries.mode(partner.world)
    deliveries.change(partner.world, "pause", None)
    try:
        yield
    finally:
        deliveries.change(partner.world, mode, None)


def _lock(stack: AsyncExitStack, places: Places, address: str) -> None:
    """One demo at a time on one state; the lock file tells the second where the first is."""
    places.folder.mkdir(parents=True, exist_ok=True)
    file = stack.enter_context((places.folder / "lock").open("a+"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        first = file.read().strip() or "elsewhere"
        raise Mistake(f"The demo is already running at {first}. Open it there, or end it first.") from None
    file.truncate(0)
    file.write(f"{address}\n")
    file.flush()


def _prepare(places: Places, *, fresh: bool) -> None:
    """The files that must be there before anything starts: a master key and a policy."""
    from storage.vault import new_master

    if fresh:
        _forget(places.folder)
    if not places.master_key.exists():
        if places.database.exists():
            raise Mistake(
                f"{places.database} was sealed with a key that is gone ({places.master_key})."
                " Start again from nothing with --fresh."
            )
        with os.fdopen(os.open(places.master_key, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
            file.write(new_master() + "\n")
    if not places.config.exists():
        text = CONFIG.read_text(encoding="utf-8").replace(_TEAM_ZONE, f'timezone = "{_zone_here()}"')
        if places.passkeys:
            for without, with_them in _PASSKEYS:
                text = text.replace(without, with_them)
        places.config.write_text(text, encoding="utf-8")


def _forget(folder: Path) -> None:
    """Remove the state, not the lock that is held."""
    for path in folder.iterdir():
        if path.name == "lock":
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _zone_here() -> str:
    """The time zone of this machine, and so of its browser: one person plays everybody."""
    link = str(Path("/etc/localtime").resolve())
    name = os.environ.get("TZ") or link.rpartition("zoneinfo/")[2]
    return name if name in available_timezones() else "UTC"


def _settings(places: Places, slack: Slack, partner: Partner, bind: Bind) -> Settings:
    return Settings.from_env(
        {
            "SLACK_API_URL": f"{slack.url}/api/",
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "COUNTERSIGN_CONFIG": str(places.config),
            "COUNTERSIGN_DATABASE_URL": f"sqlite:///{places.database}",
            "COUNTERSIGN_MASTER_KEY_FILE": str(places.master_key),
            "COUNTERSIGN_PARTNER_URL": partner.base_url,
            "COUNTERSIGN_PARTNER_KEY": partner.key,
            "COUNTERSIGN_HTTP_BIND": str(bind),
            "COUNTERSIGN_METRICS_BIND": f"{HOST}:{bind.port + 1}",
            "COUNTERSIGN_PUBLIC_URL": f"https://{PUBLIC_HOST}",
            "COUNTERSIGN_LOG": "json",
        }
    )


async def _start_bot(stack: AsyncExitStack, settings: Settings, places: Places, details_at: str) -> Running:
    """The bot, logging to a file so that the address stays in sight."""
    from bot import app, log
    from bot.config import Config
    from bot.startup import CannotStart, Overrides
    from storage.migrate import migrate

    log.configure(settings.log, stream=stack.enter_context(places.log.open("a", buffering=1)))
    Config.load(settings.config_path)  # a wrong setting is reported at once
    await migrate(settings.database_url)
    try:
        # The public address is for the card provider alone; a browser on this machine takes this one.
        overrides = Overrides(details_at=details_at)
        running = await app.start(settings, partial(Config.load, settings.config_path), overrides)
    except OSError as error:
        raise port_taken(error, settings.http_bind.port, "--port") from error
    except CannotStart as error:
        if isinstance(error.__cause__, OSError):  # of the metrics, whose address follows from --port, too
            raise port_taken(error.__cause__, settings.metrics_bind.port, "--port") from error
        raise
    stack.push_async_callback(running.stop)
    return running


async def _register_webhook(core: Core) -> None:
    """As in a program that works already: events come by webhook, so an alert takes seconds. Two people ask for it
    elsewhere (`/countersign webhook register`); here nobody has to, so it is recorded as the demo's own doing.
    """
    from storage.events import webhook_secrets

    program = core.default_program
    async with core.store.read() as tx:
        if await webhook_secrets.newest(tx, program) is not None:
            return
    address = {"url": f"https://{PUBLIC_HOST}/webhooks/{program}"}
    change = await core.partners[program].set_webhook(json.dumps(address).encode())
    if change.secret is None:
        return  # registered by an earlier demo whose database is gone: `/countersign webhook rotate` gives a new one
    async with core.store.begin() as tx:
        by = webhook_secrets.By("system:demo", policy_version=core.policy.version)
        await webhook_secrets.put(tx, program, change.secret, previous_until=tx.now, by=by)


def _greet(host: str, port: int, partner: Partner, *, passkeys: bool) -> None:
    from bot.partner.key_guard import key_prefix
    from bot.partner.secret import Secret

    first = (
        "As Bob, type /countersign passkey add, press Add passkey, and confirm it as Carol. Then approve with it."
        if passkeys
        else "As Alice, type /card topup and send the form. Switch to Bob and press Approve."
    )
    terminal.echo(
        f"""
  Countersign is running. Open

      http://{host}:{port}

  {first}

  Partner simulator  http://{host}:{port + 1}  (key {key_prefix(Secret(partner.key))}…)
  State and log in {FOLDER}; --fresh starts again from nothing. Ctrl-C ends it.
"""
    )
