"""The world around a bot that is killed: Slack stand-in, simulator and the clock, all in the test's process."""

import asyncio
import json
import logging
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sandbox.partner.accounts import accounts
from sandbox.partner.calls import idempotency
from sandbox.partner.cards import cards as card_records
from sandbox.partner.control import dispatch
from sandbox.partner.server import Running as Simulator
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Running as Slack
from sandbox.slack import serve as serve_slack
from sandbox.slack.control import workspace_admin
from tests.crash.faulty_lines import Line, line
from tests.crash.process import ROOT, BotProcess, open_process
from tests.crash.shared_database import SharedDatabase
from tests.crash.time_jumps import Leaps
from tests.support.databases import migrated_file
from tests.support.posted_ids import PostedIds
from tests.support.waiting import eventually

Json = dict[str, Any]

APPROVALS = "C0APPROVALS"
ASKERS, APPROVERS = ("U0ALICE", "U0DAVE"), ("U0BOB", "U0CAROL")
MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="
# Higher than any request, so that limits are not what is tested here.
PLENTY = 1_000_000
# One leap: under a third of the lease, so that a bot that is alive keeps it.
LEAP_S, LEASE_S, LEAP_EVERY_S = 8.0, 30.0, 0.02
# Several bots hand work over by the database's clock, which does not leap: a request that a dead one held is free after
# ten seconds, and so again with the next death. While one waits to be sent, its 15 minutes take at least 90 seconds.
UNSENT_LEAP_EVERY_S = 0.8
# Enough that no two requests meet on one card while an outcome is in doubt.
CARDS = 40
CONFIG = """
[slack]
approvals_channel = "#card-approvals"
alerts_channel = "#card-alerts"

[people]
approvers = ["@card-approvers"]
admins = ["@card-admins"]

[policy.default]
approvals = 1
expires = "3d"
"""


@dataclass
class Outside:
    """What goes on while the bot is dead, and what is true whatever the bot believes."""

    folder: Path
    slack: Slack
    partner: Simulator
    leaps: Leaps
    env: dict[str, str]
    bot: BotProcess = field(init=False)
    posted: PostedIds = field(init=False)
    # References of the ledger rows that were there before the bot.
    seeded: frozenset[str | None] = frozenset()
    # Where several bots share a database, not a file of one.
    shared: SharedDatabase | None = None
    # Between the bot and the others, where they may be spoiled.
    lines: list[Line] = field(default_factory=list)
    # Held while a person's click has to be answered with a window: Slack gives it three seconds.
    hands: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Where sending may take seconds: since when an approved request waits to be sent, and the longest wait.
    unsent_since: dict[str, float] = field(default_factory=dict)
    longest_unsent_s: float = 0.0

    @property
    def database(self) -> Path:
        return self.folder / "bot.db"

    def tell_partner(self, call: str, body: Json | None = None, method: str = "POST") -> Any:
        """A control call of the simulator, without the wire."""
        data = json.dumps(body).encode() if body is not None else b""
        status, answer = dispatch.handle(self.partner.world, method, call, data)
        assert status == 200, answer
        return json.loads(answer)

    def truth(self) -> Json:
        """The simulator's own state."""
        found: Json = self.tell_partner("state", method="GET")
        return found

    def cards(self) -> list[Json]:
        """The cards made for the operators: id and true status."""
        rows = self.partner.world.store.all(
            "SELECT id, status FROM cards WHERE partner_ref LIKE 'operators-%' ORDER BY seq"
        )
        return [dict(row) for row in rows]

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """What the bot's database holds, read without changing the file or its log; times and JSON as text."""
        if self.shared is not None:
            return self.shared.rows(sql, *values)
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(sql, values).fetchall()

    def posts(self) -> list[Json]:
        """Every message of the app that Slack has, in any channel, thread or conversation."""
        held = self.slack.workspace.store.messages.values()
        return [message for channel in held for message in channel if message.get("bot_id")]

    def last_words(self) -> str:
        """The end of the bot's log, tracebacks included."""
        return (self.folder / "bot.log").read_text()[-3000:]

    def leap(self, seconds: float = LEAP_S) -> None:
        """Time goes on, for the others first: a limit must not seem over to the bot before it is."""
        self.slack.workspace.clock.advance(seconds)
        self.slack.workspace.store.clock_moved()
        self.tell_partner("clock", {"advance_seconds": seconds})
        self.leaps.add(seconds)

    async def let_time_fly(self, *, pause_s: float = LEAP_EVERY_S) -> None:
        """Leap again and again, but never while somebody waits for a window. Until cancelled."""
        while True:
            async with self.hands:
                self.leap()
            await asyncio.sleep(max(pause_s, UNSENT_LEAP_EVERY_S) if self._some_are_unsent() else pause_s)

    def _some_are_unsent(self) -> bool:
        """Does an approved request wait, where that may take seconds: for one of several bots, or for a line? How long
        each waits is kept."""
        if self.shared is None and not self.lines:
            return False
        now = time.monotonic()
        since = {row["id"]: self.unsent_since.get(row["id"], now) for row in self.rows(_UNSENT)}
        self.unsent_since = since
        self.longest_unsent_s = max([self.longest_unsent_s, *(now - at for at in since.values())])
        return bool(since)

    async def until_drained(self, timeout_s: float) -> bool:
        """Let time fly until every approved request has its outcome and nothing waits for Slack."""
        flying = asyncio.create_task(self.let_time_fly())
        try:
            await eventually("everything has its outcome", self._is_at_rest, within_s=timeout_s, every_s=0.05)
        except AssertionError:
            return False
        finally:
            flying.cancel()
        return True

    def _is_at_rest(self) -> bool:
        return not self.rows(_UNDER_WAY)


# A batch waits for its rows.
_UNSENT = """
SELECT id FROM request WHERE state = 'approved' AND valid_until IS NOT NULL
"""
_UNDER_WAY = """
SELECT id FROM request WHERE state IN ('approved', 'executing')
UNION SELECT subject FROM outbox WHERE state IN ('owed', 'sending')
"""


@asynccontextmanager
async def outside(
    folder: Path,
    *,
    bug: str = "",
    level: int = logging.INFO,
    default_key: str | None = None,
    lease_s: float = LEASE_S,
    config: str = "",
    relay: Mapping[str, Any] | None = None,
    shared: SharedDatabase | None = None,
    jobs: Collection[str] = (),
    spoils: random.Random | None = None,
) -> AsyncIterator[Outside]:
    """Everything but the bot, which `Outside.bot.start` starts. The database is new and migrated.

    `shared`: a migrated one on PostgreSQL, instead of a file. `config` is added to the bot's file; `relay` says where
    names lead, as `bot_under_test` reads it. `jobs`: what comes round on the bot's timers with `LeapingTimers.JOBS`.
    `spoils`: chooses how the lines are spoiled that lead from the bot to all others; without it there are none.
    """
    async with AsyncExitStack() as stack:
        slack = await serve_slack(port=0, manifest_path=ROOT / "manifest.yml")
        stack.push_async_callback(slack.close)
        partner = await serve_partner(port=0, demo=True, default_key=default_key)
        stack.push_async_callback(partner.close)
        world = Outside(folder, slack, partner, Leaps(folder / "leaps"), {})
        world.posted = PostedIds(slack.workspace.store)
        _furnish(world)
        key = default_key or world.tell_partner("keys", {"rate_limit_per_minute": PLENTY})["key"]
        world.shared = shared
        world.env = _settings(world, key, config)
        if spoils is not None:
            await _lead_through_lines(world, stack, spoils)
        world.seeded = frozenset(row["reference"] for row in world.truth()["ledger"])
        if shared is None:
            await migrated_file(world.database)
        order = {
            "env": world.env,
            "leaps": str(folder / "leaps"),
            "lease_s": lease_s,
            "bug": bug,
            "log": str(folder / "bot.log"),
            "level": level,
            "relay": relay,
            "roles": "slack,web,worker",
            "all_timers": False,
            "jobs": list(jobs),
        }
        world.bot = await open_process(order)
        stack.push_async_callback(world.bot.close)
        yield world


async def _lead_through_lines(world: Outside, stack: AsyncExitStack, spoils: random.Random) -> None:
    """The bot calls the others by these lines, and people go on without them."""
    for name in ("COUNTERSIGN_PARTNER_URL", "SLACK_API_URL"):
        url = urlsplit(world.env[name])
        assert url.hostname is not None
        assert url.port is not None
        made = await stack.enter_async_context(line(name, (url.hostname, url.port), spoils))
        world.env[name] = url._replace(netloc=f"127.0.0.1:{made.port}").geturl()
        world.lines.append(made)
    if world.shared is not None:
        to = world.shared.listens_at()
        made = await stack.enter_async_context(line("COUNTERSIGN_DATABASE_URL", to, spoils))
        world.env[made.name] = world.shared.url_at(made.port)
        world.lines.append(made)


def _furnish(world: Outside) -> None:
    """One more person who may ask, money to spend, and a chain whose transfers count."""
    workspace = world.slack.workspace
    workspace_admin.change_person(workspace, {"id": "U0DAVE", "name": "dave", "real_name": "Dave Lindqvist"})
    for channel in ("C0OPS", APPROVALS):
        there = workspace.store.channels[channel].members
        workspace_admin.change_channel(workspace, {"id": channel, "members": [*there, "U0DAVE"]})
    for number in range(CARDS):
        issue_card(world.partner, f"CREW {number}", f"operators-{number}")
    world.tell_partner("float", {"amount_usd": str(PLENTY)})
    world.tell_partner("account", {"accept_any_wallet": True, "background_refresh_seconds": 1})


def issue_card(simulator: Simulator, name: str, partner_ref: str) -> str:
    """One more card of the first account, known to the card provider's directory at once; its id."""
    inner = simulator.world
    account = accounts.first_account(inner)
    claimed = idempotency.claim_for(inner, account, "create", f"seed-{partner_ref}")
    card = card_records.issue(inner, account, name, partner_ref, claimed)
    idempotency.settle(inner, claimed, "done", {"card": card_records.shown(inner, card)})
    inner.store.update("cards", "id", card.id, synced_at=card.created_at)
    return card.id


def _settings(world: Outside, key: str, more: str) -> dict[str, str]:
    config, master = world.folder / "countersign.toml", world.folder / "master.key"
    config.write_text(CONFIG + more)
    master.write_text(MASTER + "\n")
    master.chmod(0o600)
    return {
        "SLACK_API_URL": world.slack.api_url,
        "SLACK_BOT_TOKEN": world.slack.bot_token,
        "SLACK_APP_TOKEN": world.slack.app_token,
        "COUNTERSIGN_CONFIG": str(config),
        "COUNTERSIGN_DATABASE_URL": world.shared.url if world.shared else f"sqlite:///{world.database}",
        "COUNTERSIGN_MASTER_KEY_FILE": str(master),
        "COUNTERSIGN_PARTNER_URL": world.partner.base_url,
        "COUNTERSIGN_PARTNER_KEY": key,
        "COUNTERSIGN_HTTP_BIND": "127.0.0.1:0",
        "COUNTERSIGN_LOG": "json",
    }
