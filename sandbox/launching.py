"""Both halves of the sandbox started with everything that can be said about them, and the facts to reach them by."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox import scenario_files
from sandbox.partner.scenarios import SCENARIOS, catalogue
from sandbox.partner.server import Running as Partner
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Options
from sandbox.slack import Running as Slack
from sandbox.slack import serve as serve_slack
from sandbox.slack.state import CastError, ManifestError, cast

HOST = "127.0.0.1"


class CannotLaunch(Exception):
    """The sandbox cannot be started as asked; the text says what to change."""


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
    to listen on. `ready_file` gets the addresses and tokens as JSON once both halves listen.
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


ANY_PORT = -1


@dataclass
class Launched:
    """What runs. `close` ends it."""

    slack: Slack | None = None
    partner: Partner | None = None
    warnings: list[str] = field(default_factory=list)
    open_to: str = ""

    async def close(self) -> None:
        """Stop both halves."""
        for half in (self.slack, self.partner):
            if half is not None:
                await half.close()

    def facts(self) -> dict[str, dict[str, str]]:
        """Addresses, tokens and the key, by half and by the name of the variable that a program reads them from."""
        found: dict[str, dict[str, str]] = {}
        if self.slack is not None:
            found["slack"] = {
                "url": self.slack.url,
                "SLACK_API_URL": self.slack.api_url,
                "SLACK_BOT_TOKEN": self.slack.bot_token,
                "SLACK_APP_TOKEN": self.slack.app_token,
                "SLACK_SIGNING_SECRET": self.slack.signing_secret,
            }
        if self.partner is not None:
            found["partner"] = {
                "url": self.partner.url,
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
    started = Launched(open_to=options.open_to)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(started.close)
        if options.slack_port:
            started.slack = await _slack(options)
            started.warnings += started.slack.workspace.manifest.unsupported
        if options.partner_port:
            started.partner = await _partner(options)
        if options.ready_file is not None:
            await asyncio.to_thread(_write, options.ready_file, started.facts())
        stack.pop_all()
    return started


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
        )
    except (CastError, ManifestError) as error:
        raise CannotLaunch(f"{error}.") from error
    except OSError as error:
        raise PortTaken("slack", options.slack_port, error) from error


async def _partner(options: Launch) -> Partner:
    try:
        running = await serve_partner(
            host=HOST,
            port=0 if options.partner_port == ANY_PORT else options.partner_port,
            state_path=_beside(options.state, "partner") or ":memory:",
            seed=options.seed,
            default_key=options.key,
            open_to=options.open_to,
        )
    except ValueError as error:
        raise CannotLaunch(f"{error}.") from error
    except OSError as error:
        raise PortTaken("partner", options.partner_port, error) from error
    if options.scenario is not None:
        try:
            await _begin(running, options.scenario)
        except scenario_files.WrongScenario as error:
            await running.close()
            raise CannotLaunch(f"{error}.") from error
    return running


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
    unready.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    os.replace(unready, path)
