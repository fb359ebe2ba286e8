"""Where a half of the sandbox listens: on loopback, and on an address for other machines where somebody asks for it."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from aiohttp import web

EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - only where somebody asks for it


class AddressError(Exception):
    """The sandbox cannot listen on an address; the text says why."""


def address_to_open(host: str) -> str:
    """What to open beside loopback; empty for loopback itself. Raises AddressError for an address that is not here."""
    if host == "localhost":
        return ""
    try:
        address = ip_address(host)
        if address.is_loopback:
            return ""
        with socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET) as probe:
            probe.bind((host, 0))
    except (ValueError, OSError):
        raise AddressError(
            f"{host} is not an address of this machine. Use --host {EVERY_ADDRESS} for all addresses that it has."
        ) from None
    return host


def warning_of(host: str) -> str:
    """What a person reads before the sandbox listens on an address that other machines reach."""
    return (
        f"Warning: everyone who can reach {host} can act as anybody here. Type no real token, key or card number into"
        " these pages."
    )


def shown_host(open_to: str) -> str:
    """The host of addresses that a person opens in a browser."""
    if not open_to or ip_address(open_to).is_unspecified:
        return "127.0.0.1"
    return f"[{open_to}]" if ":" in open_to else open_to


async def listen(runner: web.AppRunner, host: str, port: int, open_to: str = "") -> int:
    """The port that it listens on, a free one for 0.

    `open_to` is one more address beside `host`, on the same port; `EVERY_ADDRESS` stands for both. Raises OSError when
    the port is taken; nothing listens then.
    """
    await runner.setup()
    try:
        await web.TCPSite(runner, EVERY_ADDRESS if open_to == EVERY_ADDRESS else host, port).start()
        port = int(runner.addresses[0][1])
        if open_to not in ("", EVERY_ADDRESS):
            await web.TCPSite(runner, open_to, port).start()
    except OSError:
        await runner.cleanup()
        raise
    return port
