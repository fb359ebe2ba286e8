"""Starts the two halves of the sandbox; `countersign sandbox` is both of them and nothing else."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.cli.errors import Mistake
from bot.cli.serving import port_taken, until_signalled

if TYPE_CHECKING:
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
    from bot.partner.loopback import is_loopback
    from sandbox.listening import EVERY_ADDRESS

    if is_loopback(host):
        return ""
    try:
        address = ip_address(host)
        with socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET) as probe:
            probe.bind((host, 0))
    except (ValueError, OSError):
        raise Mistake(
            f"{host} is not an address of this machine. Use --host {EVERY_ADDRESS} for all addresses that it has."
        ) from None
    typer.echo(
        f"Warning: everyone who can reach {host} can act as anybody here. Type no real token, key or card number into"
        " these pages.",
        err=True,
    )
    return host


def shown_host(open_to: str) -> str:
    """The host of addresses that a person opens in a browser."""
    if not open_to or ip_address(open_to).is_unspecified:
        return HOST
    return f"[{open_to}]" if ":" in open_to else open_to


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


async def run_sandbox(slack_port: int, partner_port: int, *, host: str) -> None:
    """Serve the halves whose port is not 0 until a signal."""
    if not slack_port and not partner_port:
        raise Mistake("Both halves are switched off: give --slack-port or --partner-port a port.")
    open_to = opened_to(host)
    shown = shown_host(open_to)

    async def start(stack: AsyncExitStack) -> None:
        if slack_port:
            slack = await start_slack(stack, slack_port, option="--slack-port", open_to=open_to)
            typer.echo(f"Slack stand-in      http://{shown}:{slack_port}")
            typer.echo(f"  SLACK_API_URL         {slack.url}/api/")
            typer.echo(f"  SLACK_BOT_TOKEN       {slack.bot_token}")
            typer.echo(f"  SLACK_APP_TOKEN       {slack.app_token}")
            typer.echo(f"  SLACK_SIGNING_SECRET  {slack.signing_secret}")
        if partner_port:
            partner = await start_partner(stack, partner_port, option="--partner-port", open_to=open_to)
            typer.echo(f"Partner simulator   http://{shown}:{partner_port}")
            typer.echo(f"  COUNTERSIGN_PARTNER_URL  {partner.base_url}")
            typer.echo(f"  COUNTERSIGN_PARTNER_KEY  {partner.key}")
        typer.echo("Nothing is kept. Ctrl-C ends it.")

    await until_signalled(start)
