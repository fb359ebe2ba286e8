"""This machine and its network: the clock, the port, the public address, the relay's names, the language model."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import re
import shlex
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.cli.doctor.findings import Finding, to_check, well, wrong

if TYPE_CHECKING:
    from pathlib import Path

    from bot.config import Bind, Config, Model, Settings
    from bot.domain.events import Destination

# Slack refuses signatures, and we refuse deliveries, that are 300 s off.
_CLOCK_TOLERANCE = timedelta(seconds=60)
_ANSWERS_WITHIN_S = 5.0
_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}")


async def all_of(settings: Settings, config: Config) -> AsyncIterator[Finding]:
    """Everything of this machine but the database."""
    for finding in _http_mode(settings):
        yield finding
    yield await asyncio.to_thread(_port, settings.http_bind)
    for finding in _traces(settings):
        yield finding
    if settings.public_url:
        yield await asyncio.to_thread(_public_address, settings.public_url)
    if config.policy.uses_passkeys:
        yield _passkeys(settings.public_url or "")
    for destination in config.destinations:
        yield await _relay(destination)
    if config.model is not None:
        yield await _language_model(settings, config.model)


def clock(whose: str, theirs: datetime) -> Finding:
    """This machine's clock against another's."""
    from bot.domain.time import SystemClock

    off = abs(SystemClock().now() - theirs)
    if off > _CLOCK_TOLERANCE:
        return wrong(
            "clock",
            f"This machine's clock is {off.total_seconds():.0f} s away from {whose}'s. Set it right: signatures and"
            " approvals depend on it.",
        )
    return well("clock", f"This machine's clock agrees with {whose}'s.")


def _http_mode(settings: Settings) -> list[Finding]:
    """What HTTP mode needs; nothing in Socket Mode, where Slack does not come to us."""
    if settings.socket_mode or settings.slack_signing_secret is None:
        return []
    found = []
    if not _SIGNING_SECRET.fullmatch(settings.slack_signing_secret.reveal()):
        found.append(
            wrong(
                "signing_secret",
                "SLACK_SIGNING_SECRET is not a signing secret, which has 32 characters of 0-9 and a-f: Countersign"
                " would refuse whatever Slack sends. Copy it from Basic Information in the settings of the Slack app.",
            )
        )
    if not settings.public_url:
        found.append(
            wrong(
                "public_address",
                "HTTP mode needs COUNTERSIGN_PUBLIC_URL, the https address at which Slack reaches Countersign. Set"
                " it, or set SLACK_APP_TOKEN for Socket Mode, which needs no address.",
            )
        )
    return found or [well("signing_secret", "The signing secret has the form of one.")]


def _port(bind: Bind) -> Finding:
    family = socket.AF_INET6 if ":" in bind.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind.host, bind.port))
        except OSError as error:
            return _port_in_use(bind, error)
    return well("port", f"{bind} is free for the web server.")


def _port_in_use(bind: Bind, error: OSError) -> Finding:
    if error.errno != errno.EADDRINUSE:
        return wrong(
            "port",
            f"The web server cannot listen on {bind} ({error.strerror}). Set COUNTERSIGN_HTTP_BIND to an address of"
            " this machine and a port above 1023.",
        )
    if _is_countersign(f"http://{bind}"):
        return to_check("port", f"{bind} is held by a Countersign that runs. That is right if it is yours.")
    return wrong(
        "port",
        f"{bind} is used by another program. End that one, or choose another port with COUNTERSIGN_HTTP_BIND.",
    )


async def anchors(settings: Settings, config: Config, *, is_live: bool) -> Finding:
    """Are they kept where an older copy of the database does not take them along? `is_live`: real money moves."""
    from bot.services.anchor_places import AnchorPlaces, Unreadable
    from bot.startup import few_places, has_places

    if settings.anchors_file:
        file = settings.anchors_file
        try:
            await AnchorPlaces([file]).ask_file(file, partial(_try_to_append, file))
        except Unreadable as error:
            return wrong(
                "anchors",
                f"The file for audit anchors {error} cannot be written. Look at the disk or the server that it is on.",
            )
        except OSError as error:
            return wrong(
                "anchors",
                f"The file for audit anchors {file} cannot be written ({error.strerror})."
                " Make its folder, or let the user that Countersign runs as write there.",
            )
    if settings.anchors_command:
        try:
            await AnchorPlaces(command=shlex.split(settings.anchors_command)).read()
        except Unreadable as error:
            return wrong(
                "anchors",
                f"{error} cannot be read as audit anchors. Run it with read by hand, as the user that Countersign runs"
                " as, and correct COUNTERSIGN_ANCHORS_COMMAND.",
            )
    fault = few_places(settings, config)
    if fault and is_live and not has_places(settings, config):
        return wrong("anchors", fault)
    return (
        to_check("anchors", fault)
        if fault
        else well("anchors", "Audit anchors are kept in two places apart.")
    )


def _try_to_append(path: Path) -> None:
    """Raises OSError where the bot could not. Leaves nothing: a file of whoever runs this may not be the bot's."""
    if path.exists():
        path.open("ab").close()
    else:
        tempfile.TemporaryFile(dir=path.parent).close()


def _traces(settings: Settings) -> list[Finding]:
    """Nothing where none are wanted."""
    if not settings.otlp_endpoint:
        return []
    from bot.startup import TRACES_NOT_INSTALLED

    if find_spec("opentelemetry") is None:
        return [wrong("traces", TRACES_NOT_INSTALLED)]
    return [well("traces", f"Traces of requests are sent to {settings.otlp_endpoint}.")]


def _public_address(url: str) -> Finding:
    if _is_countersign(url):
        return well("public_address", f"{url} answers as Countersign.")
    return to_check(
        "public_address",
        f"{url} does not answer as Countersign from this machine. Start Countersign, and check that the proxy passes"
        f" {url}/healthz on to COUNTERSIGN_HTTP_BIND. From elsewhere it may work.",
    )


def _passkeys(public_url: str) -> Finding:
    """Can browsers use passkeys at this address? Without, Countersign does not start with such a policy."""
    from bot.domain.passkeys import Site

    fix = "Set COUNTERSIGN_PUBLIC_URL to the https address of its web server, with a name and not an IP address."
    if not public_url:
        return wrong(
            "passkeys", f"countersign.toml asks for passkeys (passkey = true), and there is no address. {fix}"
        )
    try:
        site = Site.at(public_url)
    except ValueError as error:
        return wrong("passkeys", f"countersign.toml asks for passkeys (passkey = true), but {error}. {fix}")
    return well("passkeys", f"Passkeys work in browsers, at {site.rp_id}.")


def _is_countersign(url: str) -> bool:
    """Whether GET /healthz is answered as `bot.web` answers it."""
    parts = urlsplit(url)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    with suppress(OSError, ValueError, http.client.HTTPException):
        connection = connect(parts.hostname or "", parts.port, timeout=_ANSWERS_WITHIN_S)
        try:
            connection.request("GET", f"{parts.path}/healthz")
            return bool(json.loads(connection.getresponse().read(1000)) == {"ok": True})
        finally:
            connection.close()
    return False


async def _relay(destination: Destination) -> Finding:
    """Does its name lead somewhere, and only to where something may be sent?"""
    from bot.domain.addresses import is_denied
    from bot.services.events import addresses_of

    host = urlsplit(destination.url).hostname or ""
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            addresses = await addresses_of(host)
    except (OSError, TimeoutError):
        return wrong(
            "relay",
            f"The relay's destination {destination.name}: the name {host} does not resolve. Correct it in"
            " countersign.toml, or the DNS of this machine.",
        )
    denied = [address for address in addresses if is_denied(address)]
    if denied:
        return wrong(
            "relay",
            f"The relay's destination {destination.name}: {host} leads to {denied[0]}, which is not a public address,"
            " and nothing is sent there. Name a public host in countersign.toml.",
        )
    return well("relay", f"The relay's destination {destination.name}: {host} resolves.")


async def _language_model(settings: Settings, model: Model) -> Finding:
    from bot.language_model import fault_of

    fault = await fault_of(model.url, model.name, settings.language_model_key)
    if fault is None:
        return well("language_model", f"The language model {model.name} answers as it should.")
    return wrong(
        "language_model", f"The language model {model.name}: {fault} Without it everything else works."
    )
