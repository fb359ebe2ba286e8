"""Where a half of the sandbox listens, and by which hosts it is called.

It listens on loopback, and on an address for other machines where somebody asks for it. It is called by an IP address,
by `localhost` and by names that somebody gave it. Any other name may be a stranger's, made to lead here (DNS
rebinding).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from ipaddress import ip_address

from aiohttp import web

EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - only where somebody asks for it


_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(?::[0-9]{1,5})?")
_NAME = re.compile(r"[0-9A-Za-z]([0-9A-Za-z._-]{0,251}[0-9A-Za-z])?")


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


def checked_names(names: Collection[str]) -> tuple[str, ...]:
    """The names in lower case. Raises AddressError for one that is not a host name."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise AddressError(
                f"{name} is not a host name. Use --name with the name alone, such as sandbox.local."
            )
    return tuple(name.lower() for name in names)


def is_known_host(host: str, names: Collection[str] = ()) -> bool:
    """Whether a request's Host is an IP address, localhost or one of `names`, with or without a port."""
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].strip("[]").lower().removesuffix(".")
    try:
        return name == "localhost" or name in names or bool(ip_address(name))
    except ValueError:
        return False


def not_known(host: str) -> str:
    """What a caller reads whose Host is not known here."""
    found = _HOST.fullmatch(host)
    name = found[1] if found else "NAME"
    return f"This name is not known here. If it is the sandbox's own, start it with --name {name}."


def own_host(host: str, open_to: str, names: Collection[str] = ()) -> str:
    """The host of links for those who did not say where they called: a given name, else the address."""
    for name in names:
        return name
    if open_to and not ip_address(open_to).is_unspecified:
        host = open_to
    return f"[{host}]" if ":" in host else host


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
