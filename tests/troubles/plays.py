"""The troubles. Each begins when everything is well, lasts as long as it says, and is watched until it is over."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import make_url

from tests.support.disks import BreakingDisk, a_breaking_disk, a_small_disk, fill, mount
from tests.support.own_postgres import Server
from tests.support.slack_people import ALICE, BOB, OPS
from tests.troubles.surroundings import Surroundings, surroundings
from tests.troubles.timeline import Timeline

# Long enough that what is reported within a minute is seen.
_AFTER_S = 30.0


@dataclass
class Stage:
    """Where a trouble is played."""

    around: Surroundings
    line: Timeline
    server: Server | None = None
    disk: BreakingDisk | None = None

    async def person(self, text: str = "/card topup") -> None:
        """Somebody types a command; what Slack shows them within five seconds."""
        began = time.monotonic()
        try:
            outcome = await self.around.people.act("command", user=ALICE, channel=OPS, text=text)
        except Exception as error:  # noqa: BLE001 - Slack itself may be what is in trouble
            self.line.note("requester", f"types {text}: {type(error).__name__}")
            return
        said = "acknowledged" if outcome.get("acked") else f"not acknowledged ({outcome.get('reason')})"
        shown = ""
        while time.monotonic() - began < 15 and not shown:
            shown = await self._shown(ALICE)
            await asyncio.sleep(0.1)
        after = time.monotonic() - began
        self.line.note(
            "requester", f"types {text}: {said}; after {after:.1f} s: {shown or 'nothing is shown'}"
        )
        await self.around.people.close_windows(ALICE)

    async def _shown(self, user: str) -> str:
        """The window that is open, or what is said to them alone since the trouble began."""
        seen = await self.around.people.see(user)
        if seen["views"]:
            return f"the form “{seen['views'][-1]['title']['text']}”"
        alone = [
            message["text"]
            for channel in seen["channels"]
            for message in channel["messages"]
            if (message.get("is_ephemeral") or message.get("ephemeral") or channel["id"].startswith("D"))
            and message["text"] not in self._before
        ]
        if alone:
            self._before.update(alone)
            return f"“{alone[-1]}”"
        return ""

    def __post_init__(self) -> None:
        self._before: set[str] = set()

    async def remember_what_was_said(self) -> None:
        while await self._shown(ALICE):
            pass


Play = Callable[[Stage], Awaitable[None]]


async def the_write_lock_is_held(stage: Stage) -> None:
    """Another process holds SQLite's write lock for 45 s."""
    other = sqlite3.connect(stage.around.folder / "bot.db")
    async with stage.line.watched():
        other.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(2)
        await stage.person()
        await asyncio.sleep(max(0, 45 - (time.monotonic() - stage.line.began)))
        other.rollback()
        stage.line.note("trouble", "ends: the lock is released")
        await asyncio.sleep(_AFTER_S)
        await stage.person()


async def the_disk_is_full(stage: Stage) -> None:
    """The disk of the SQLite file is full for 45 s."""
    filler = _disk(stage) / "filler"
    async with stage.line.watched():
        fill(filler)
        await asyncio.sleep(2)
        await stage.person()
        await asyncio.sleep(max(0, 45 - (time.monotonic() - stage.line.began)))
        filler.unlink()
        stage.line.note("trouble", "ends: there is room again")
        await asyncio.sleep(_AFTER_S)
        await stage.person()


async def the_file_system_becomes_read_only(stage: Stage) -> None:
    """The disk of the SQLite file reports an error, so Linux makes its file system read-only, for good."""
    assert stage.disk is not None
    async with stage.line.watched():
        stage.disk.fail()
        await asyncio.sleep(2)
        await stage.person()
        await asyncio.sleep(max(0, 45 - (time.monotonic() - stage.line.began)))
        await stage.around.end()
        stage.disk.repair()
        await stage.around.start()
        stage.line.note("trouble", "ends: the bot was ended, the disk repaired, and the bot started again")
        await asyncio.sleep(_AFTER_S)
        await stage.person()


async def it_starts_on_a_read_only_file_system(stage: Stage) -> None:
    """The bot is started while the file system of its SQLite file is read-only."""
    await stage.around.end()
    mount("-o", "remount,ro", str(_disk(stage)))
    before = len(stage.around.log.read_bytes())
    stage.line.began = time.monotonic()
    await stage.around.start(wait=False)
    assert stage.around.bot is not None
    code = await asyncio.wait_for(stage.around.bot.wait(), 90)
    stage.line.note("terminal", stage.around.log.read_bytes()[before:].decode())
    stage.line.note("terminal", f"exit code {code}")
    mount("-o", "remount,rw", str(_disk(stage)))


async def the_api_stands_still(stage: Stage) -> None:
    """The card provider's server takes connections and answers nothing for 100 s."""
    card = await stage.around.people.ask("7.00")
    async with stage.line.watched():
        stage.around.partner.send_signal(signal.SIGSTOP)
        await asyncio.sleep(2)
        await _approve_window(stage, card)
        await stage.person("/float")
        await asyncio.sleep(max(0, 100 - (time.monotonic() - stage.line.began)))
        stage.around.partner.send_signal(signal.SIGCONT)
        stage.line.note("trouble", "ends: the API answers again")
        await stage.around.people.card("7.00", "succeeded", within_s=60)
        stage.line.note("approvals channel", "what was approved meanwhile is succeeded")
        await asyncio.sleep(_AFTER_S)
    stage.line.note("ledger", f"debits: {', '.join(await stage.around.debits())}")


async def _approve_window(stage: Stage, card: dict[str, Any]) -> None:
    """When the window of Approve shows the terms, and whether it can be submitted."""
    began = time.monotonic()
    await stage.around.people.close_windows(BOB)
    await stage.around.people.press_approve(card)
    view = await stage.around.people.window(BOB, "Approve", within_s=30)
    has_terms = "7.00" in str(view["blocks"])
    stage.line.note(
        "approver",
        f"presses Approve: after {time.monotonic() - began:.1f} s the window "
        f"{'has the terms' if has_terms else 'has no terms'}",
    )
    outcome = await stage.around.people.act("submit", user=BOB, view_id=view["id"], values={})
    stage.line.note("approver", f"submits: {'acknowledged' if outcome.get('acked') else outcome}")


async def slack_stands_still(stage: Stage) -> None:
    """Slack takes connections and answers nothing for 75 s."""
    async with stage.line.watched():
        stage.around.slack.send_signal(signal.SIGSTOP)
        await asyncio.sleep(75)
        stage.around.slack.send_signal(signal.SIGCONT)
        stage.line.note("trouble", "ends: Slack answers again")
        await asyncio.sleep(_AFTER_S)
        await stage.person()


async def approved_rows_are_changed(stage: Stage) -> None:
    """Somebody writes a later `valid_until` into every approved request of the database, by SQL."""
    around = stage.around
    card = await around.people.ask("9.00")
    # Nothing goes out while the API does not answer, so that the approval waits.
    around.partner.send_signal(signal.SIGSTOP)
    await around.people.approve(card)
    await around.people.card("9.00", "approved", within_s=30)
    async with stage.line.watched():
        with sqlite3.connect(around.folder / "bot.db") as other:
            changed = other.execute(
                "UPDATE request SET valid_until = '2099-01-01T00:00:00.000000+00:00' WHERE state = 'approved'"
            ).rowcount
        stage.line.note("trouble", f"rows changed: {changed}")
        around.partner.send_signal(signal.SIGCONT)
        await asyncio.sleep(_AFTER_S)
    stage.line.note("ledger", f"debits: {', '.join(await around.debits()) or 'none'}")
    stage.line.note("approvals channel", (await around.people.card("9.00", ""))["text"])


async def postgresql_is_stopped(stage: Stage) -> None:
    """PostgreSQL is stopped in mid-work (`-m immediate`) for 45 s."""
    assert stage.server is not None
    async with stage.line.watched():
        stage.server.stop()
        await asyncio.sleep(2)
        await stage.person()
        await asyncio.sleep(max(0, 45 - (time.monotonic() - stage.line.began)))
        stage.server.start()
        stage.line.note("trouble", "ends: PostgreSQL is started again")
        await asyncio.sleep(_AFTER_S)
        await stage.person()
    await _top_up(stage)


async def postgresql_has_no_room(stage: Stage) -> None:
    """The disk of PostgreSQL is full for 45 s; it may end itself then."""
    assert stage.server is not None
    filler = stage.server.folder.parent / "filler"
    async with stage.line.watched():
        fill(filler)
        for _ in range(3):  # what it had set aside is used up by work
            await asyncio.sleep(2)
            await stage.person()
        await asyncio.sleep(max(0, 60 - (time.monotonic() - stage.line.began)))
        filler.unlink()
        stage.server.start()
        stage.line.note("trouble", "ends: there is room again, and PostgreSQL runs")
        await asyncio.sleep(_AFTER_S)
        await stage.person()
    await _top_up(stage)


async def postgresql_becomes_read_only(stage: Stage) -> None:
    """The bot's connections lead to a server that is read-only, as after a failover to the wrong one, for 45 s."""
    url = make_url(stage.around.env["COUNTERSIGN_DATABASE_URL"])

    def become(word: str) -> None:
        beside = url.set(database="postgres").render_as_string(hide_password=False)
        with psycopg.connect(
            beside, autocommit=True, options="-c default_transaction_read_only=off"
        ) as server:
            server.execute(
                f'ALTER DATABASE "{url.database}" SET default_transaction_read_only = {word}'.encode()
            )
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
                (url.database,),
            )

    async with stage.line.watched():
        become("on")
        await asyncio.sleep(2)
        await stage.person()
        await asyncio.sleep(max(0, 45 - (time.monotonic() - stage.line.began)))
        become("off")
        stage.line.note("trouble", "ends: it can be written again")
        await asyncio.sleep(_AFTER_S)
        await stage.person()


async def a_row_is_locked_on_postgresql(stage: Stage) -> None:
    """Another connection holds a lock on the head of the audit chain for 45 s: nothing can be recorded."""
    async with stage.line.watched():
        with psycopg.connect(stage.around.env["COUNTERSIGN_DATABASE_URL"]) as other:
            other.execute("SELECT * FROM audit_head FOR UPDATE")
            await asyncio.sleep(2)
            await stage.person()
            await asyncio.sleep(max(0, 45 - (time.monotonic() - stage.line.began)))
            other.rollback()
        stage.line.note("trouble", "ends: the lock is released")
        await asyncio.sleep(_AFTER_S)
        await stage.person()


async def _top_up(stage: Stage) -> None:
    await stage.around.people.approve(await stage.around.people.ask("5.00"))
    await stage.around.people.card("5.00", "succeeded", within_s=30)
    stage.line.note("approvals channel", "a top-up asked for afterwards is succeeded")


def _disk(stage: Stage) -> Path:
    return Path(stage.around.env["COUNTERSIGN_DATABASE_URL"].removeprefix("sqlite:///")).parent


ON_A_FILE: tuple[Play, ...] = (
    the_write_lock_is_held,
    approved_rows_are_changed,
    the_api_stands_still,
    slack_stands_still,
)
ON_A_SMALL_DISK: tuple[Play, ...] = (
    the_disk_is_full,
    the_file_system_becomes_read_only,
    it_starts_on_a_read_only_file_system,
)
ON_POSTGRESQL: tuple[Play, ...] = (
    postgresql_is_stopped,
    postgresql_has_no_room,
    postgresql_becomes_read_only,
    a_row_is_locked_on_postgresql,
)


@contextmanager
def _where(play: Play, folder: Path) -> Iterator[tuple[str, Server | None, BreakingDisk | None]]:
    with ExitStack() as stack:
        if play is the_file_system_becomes_read_only:
            breaking = stack.enter_context(a_breaking_disk())
            yield f"sqlite:///{breaking.folder / 'bot.db'}", None, breaking
        elif play in ON_A_SMALL_DISK:
            yield f"sqlite:///{stack.enter_context(a_small_disk()) / 'bot.db'}", None, None
        elif play in ON_POSTGRESQL:
            disk = stack.enter_context(a_small_disk(400))
            server = Server(disk / "data")
            stack.callback(server.stop)
            server.start()
            yield server.url, server, None
        else:
            yield f"sqlite:///{folder / 'bot.db'}", None, None


async def play(which: Play, folder: Path) -> Timeline:
    """From a bot that is well to one that is well again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)  # noqa: ASYNC240 - nothing waits
    with _where(which, folder) as (url, server, disk):
        async with surroundings(folder, url) as around:
            stage = Stage(around, Timeline(around), server, disk)
            await around.start()
            await stage.remember_what_was_said()
            try:
                await which(stage)
            except (AssertionError, TimeoutError) as error:
                stage.line.note("play", f"ENDED: {error}")
            return stage.line
