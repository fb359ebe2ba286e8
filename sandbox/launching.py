"""Both halves of the sandbox started with everything that can be said about them, and the facts to reach them by."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sandbox import scenario_files
from sandbox.listening import AddressError
from sandbox.partner.scenarios import SCENARIOS, catalogue
from sandbox.partner.server import Running as Partner
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Options
from sandbox.slack import Running as Slack
from sandbox.slack import serve as serve_slack
from sandbox.slack.state import CastError, Manifest, ManifestError, cast

HOST = "127.0.0.1"
_PORTS = 65_535


class CannotLaunch(Exception):
    """The sandbox cannot be started as asked; the text says what to change.

    `about_options`: the help of the command tells more about it.
    """

    def __init__(self, text: str, *, about_options: bool = True) -> None:
        super().__init__(text)
        self.about_options = about_options


class PortTaken(Exception):
    """A half (`slack` or `partner`) cannot listen on its port."""

    def __init__(self, half: str, port: int, error: OSError) -> None:
        super().__init__(f"{half}: {port}")
        self.half = half
        self.port = port
        self.error = error


@dataclass(frozen=True)
class Launch:
    """What to start. A port of 0 leaves that half out, `ANY_PORT` takes a free one.

    `state` is a name: each half keeps its state beside it, with an ending of its own. `open_to` is one more address
    to listen on, `names` are host names by which it may be called. `ready_file` gets the addresses and tokens as JSON
    once both halves listen; one that is there before is removed at the start. `scenario` plays on new state only.
    """

    manifest: Path
    slack_port: int = 8400
    partner_port: int = 8401
    open_to: str = ""
    key: str | None = None
    seed: str | None = None
    state: Path | None = None
    people: Path | None = None
    channels: Path | None = None
    request_url: str | None = None
    ready_file: Path | None = None
    scenario: str | None = None
    names: Sequence[str] = ()


ANY_PORT = -1


@dataclass
class Launched:
    """What runs. `close` ends it."""

    slack: Slack | None = None
    partner: Partner | None = None
    warnings: list[str] = field(default_factory=list)
    open_to: str = ""
    #: Held as long as this sandbox uses its state.
    lock: sqlite3.Connection | None = None

    async def close(self) -> None:
        """Stop both halves."""
        for half in (self.slack, self.partner):
            if half is not None:
                await half.close()
        if self.lock is not None:
            self.lock.close()

    def facts(self) -> dict[str, dict[str, str]]:
        """Addresses, tokens and the key, by half and by the name of the variable that a program reads them from."""
        found: dict[str, dict[str, str]] = {}
        if self.slack is not None:
            found["slack"] = {
                "url": self.slack.own_url,
                "SLACK_API_URL": f"{self.slack.own_url}/api/",
                "SLACK_BOT_TOKEN": self.slack.bot_token,
                "SLACK_APP_TOKEN": self.slack.app_token,
                "SLACK_SIGNING_SECRET": self.slack.signing_secret,
            }
        if self.partner is not None:
            found["partner"] = {
                "url": self.partner.own_url,
                # Of Countersign, which sends a key without TLS to this machine alone.
                "COUNTERSIGN_PARTNER_URL": self.partner.base_url,
                "COUNTERSIGN_PARTNER_KEY": self.partner.key,
            }
        return found


async def launch(options: Launch) -> Launched:
    """Start the halves that are wanted. Raises CannotLaunch and PortTaken; nothing runs then."""
    if not options.slack_port and not options.partner_port:
        raise CannotLaunch("Both halves are switched off: give --slack-port or --partner-port a port.")
    if options.scenario is not None and not is_file(options.scenario) and options.scenario not in SCENARIOS:
        known = ", ".join(sorted(SCENARIOS))
        raise CannotLaunch(f"{options.scenario} is not a scenario, nor a file of one. Known: {known}.")
    await asyncio.to_thread(_check, options)
    started = Launched(open_to=options.open_to)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(started.close)
        started.lock = _locked(options.state)
        if options.slack_port:
            started.slack = await _slack(options)
            started.warnings += _said_of(started.slack.workspace.manifest, options)
        if options.partner_port:
            started.partner, kept = await _partner(options)
            started.warnings += kept
        if options.ready_file is not None:
            await asyncio.to_thread(_write, options.ready_file, started.facts())
        stack.pop_all()
    return started


def _locked(state: Path | None) -> sqlite3.Connection | None:
    """A lock on the state, gone with the process: two sandboxes would write over each other. Raises CannotLaunch."""
    if state is None:
        return None
    lock = sqlite3.connect(f"{state}.lock", timeout=0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        raise CannotLaunch(
            f"The state {state} is in use by another sandbox, or its folder cannot be written to ({error})."
            " End that one, or give --state another name."
        ) from error
    return lock


def _said_of(manifest: Manifest, options: Launch) -> list[str]:
    """What the app declared and will not get, and what it gets otherwise than it declared."""
    if manifest.socket_mode or options.request_url is not None:
        return manifest.unsupported
    by_http = (
        "The manifest turns Socket Mode off, and the stand-in delivers by it."
        " Give --request-url for signed HTTP."
    )
    return [by_http, *manifest.unsupported]


def _check(options: Launch) -> None:
    """Refuse what can be seen to be wrong before anything listens, and remove what an earlier start left for others."""
    for half, port in (("slack", options.slack_port), ("partner", options.partner_port)):
        if not ANY_PORT <= port <= _PORTS:
            raise CannotLaunch(f"{port} is not a port. Give --{half}-port a number up to {_PORTS}.")
    if options.request_url is not None and not _is_web_address(options.request_url):
        raise CannotLaunch(
            f"{options.request_url} is not an address to deliver to."
            " Give --request-url one that begins with http:// or https://, such as http://127.0.0.1:3000/slack/events."
        )
    for option, path in (("--ready-file", options.ready_file), ("--state", options.state)):
        if path is not None and not path.absolute().parent.is_dir():
            raise CannotLaunch(f"The folder {path.parent} for {option} does not exist. Make it first.")
    if options.ready_file is not None:
        try:
            options.ready_file.unlink(missing_ok=True)
        except OSError as error:
            raise _not_writable(options.ready_file, error) from error


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and (parts.port or 1) > 0
            and " " not in text
        )
    except ValueError:
        return False


def _not_writable(path: Path, error: OSError) -> CannotLaunch:
    return CannotLaunch(f"--ready-file {path} cannot be written: {error.strerror}.")


def _not_kept(options: Launch, half: str, error: sqlite3.Error) -> CannotLaunch:
    return CannotLaunch(
        f"{_beside(options.state, half)} cannot be used as state: {error}."
        " Give --state another name, or delete this file."
    )


async def _slack(options: Launch) -> Slack:
    seed = int.from_bytes((options.seed or "").encode(), "big") % 2**31 if options.seed else 1
    try:
        chosen = Options(
            seed=seed,
            state_path=_beside(options.state, "slack"),
            request_url=options.request_url,
            cast=await asyncio.to_thread(cast.load, options.people, options.channels),
        )
        return await serve_slack(
            host=HOST,
            port=0 if options.slack_port == ANY_PORT else options.slack_port,
            manifest_path=options.manifest,
            options=chosen,
            open_to=options.open_to,
            names=options.names,
        )
    except AddressError as error:
        raise CannotLaunch(str(error)) from error
    except (CastError, ManifestError) as error:
        raise CannotLaunch(f"{error}.", about_options=False) from error
    except sqlite3.Error as error:
        raise _not_kept(options, "slack", error) from error
    except OSError as error:
        raise PortTaken("slack", options.slack_port, error) from error


async def _partner(options: Launch) -> tuple[Partner, list[str]]:
    """The simulator, and what to say about a scenario that was not played."""
    kept = _beside(options.state, "partner")
    is_new = kept is None or not await asyncio.to_thread(_holds_anything, kept)
    try:
        running = await serve_partner(
            host=HOST,
            port=0 if options.partner_port == ANY_PORT else options.partner_port,
            state_path=kept or ":memory:",
            seed=options.seed,
            default_key=options.key,
            open_to=options.open_to,
            names=options.names,
        )
    except AddressError as error:
        raise CannotLaunch(str(error)) from error
    except sqlite3.Error as error:
        raise _not_kept(options, "partner", error) from error
    except ValueError as error:
        raise CannotLaunch(f"{error}.") from error
    except OSError as error:
        raise PortTaken("partner", options.partner_port, error) from error
    if options.scenario is None:
        return running, []
    if not is_new:
        return running, [
            f"{kept} is kept as it was: {options.scenario} plays only on new state. "
            "Delete this file to begin with the scenario."
        ]
    try:
        await _begin(running, options.scenario)
    except scenario_files.WrongScenario as error:
        await running.close()
        await asyncio.to_thread(_discard, kept)
        raise CannotLaunch(f"{error}.", about_options=False) from error
    return running, []


def _holds_anything(kept: str) -> bool:
    return Path(kept).exists() and Path(kept).stat().st_size > 0


def _discard(kept: str | None) -> None:
    """Delete the state that this start made: half a scenario is no state to go on from."""
    for ending in ("", "-wal", "-shm") if kept else ():
        Path(f"{kept}{ending}").unlink(missing_ok=True)


async def _begin(running: Partner, scenario: str) -> None:
    if is_file(scenario):
        await scenario_files.play(running.world, running.key, Path(scenario))
    else:
        catalogue.empty(running.world, None)
        catalogue.play(running.world, scenario)


def is_file(scenario: str) -> bool:
    """Whether this names a file with a scenario, and not one of the simulator's own."""
    return scenario.endswith((".yml", ".yaml", ".json"))


def _beside(state: Path | None, half: str) -> str | None:
    return None if state is None else str(state.with_name(f"{state.name}.{half}"))


def _write(path: Path, facts: dict[str, Any]) -> None:
    """Whole or not at all: whoever waits for the file reads what it holds at once."""
    unready = path.with_name(path.name + ".part")
    try:
        unready.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        os.replace(unready, path)
    except OSError as error:
        unready.unlink(missing_ok=True)
        raise _not_writable(path, error) from error
