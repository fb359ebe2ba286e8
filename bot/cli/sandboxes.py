"""Starts the two halves of the sandbox; `countersign sandbox` is both of them and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli import terminal
from bot.cli.serving import port_taken, until_signalled
from bot.cli.terminal import Mistake

if TYPE_CHECKING:
    from sandbox.launching import Launch
    from sandbox.partner.server import Running as Partner
    from sandbox.slack import Running as Slack
    from sandbox.slack import Step

HOST = "127.0.0.1"
#: The app's manifest; packaged beside this file, in the repository a link to the one at its root.
MANIFEST = Path(__file__).with_name("manifest.yml")


def opened_to(host: str) -> str:
    """What to open beside loopback, said with a warning; empty for loopback itself. Raises Mistake for an address that
    this machine does not have.
    """
    from sandbox.listening import AddressError, address_to_open, warning_of

    try:
        opened = address_to_open(host)
    except AddressError as error:
        raise Mistake(str(error)) from None
    if opened:
        terminal.echo(warning_of(opened), err=True)
    return opened


async def start_slack(
    stack: AsyncExitStack,
    port: int,
    *,
    option: str,
    open_to: str = "",
    state: Path | None = None,
    tour: Sequence[Step] = (),
    zone: str = "",
) -> Slack:
    """The Slack stand-in, closed with the stack; `tour` is what its page suggests to try, `zone` everybody's."""
    from sandbox.slack import serve

    try:
        running = await serve(
            host=HOST,
            port=port,
            manifest_path=MANIFEST,
            state_path=str(state) if state else None,
            tour=tour,
            zone=zone,
            open_to=open_to,
        )
    except OSError as error:
        raise port_taken(error, port, option) from error
    stack.push_async_callback(running.close)
    return running


async def start_partner(
    stack: AsyncExitStack,
    port: int,
    *,
    option: str,
    open_to: str = "",
    state: Path | None = None,
    demo: bool = False,
) -> Partner:
    """The Partner API simulator, closed with the stack."""
    from sandbox.partner.server import serve

    try:
        running = await serve(
            host=HOST,
            port=port,
            state_path=str(state) if state else ":memory:",
            demo=demo,
            open_to=open_to,
        )
    except OSError as error:
        raise port_taken(error, port, option) from error
    stack.push_async_callback(running.close)
    return running


async def run_sandbox(options: Launch) -> None:
    """Serve the halves whose port is not 0 until a signal."""
    from sandbox.command import lines
    from sandbox.launching import CannotLaunch, PortTaken, launch

    async def start(stack: AsyncExitStack) -> None:
        try:
            running = await launch(options)
        except CannotLaunch as error:
            raise Mistake(str(error)) from None
        except PortTaken as taken:
            raise port_taken(taken.error, taken.port, f"--{taken.half}-port") from taken
        stack.push_async_callback(running.close)
        for line in lines(running, kept=options.state is not None):
            terminal.echo(line)

    await until_signalled(start)
