"""The programs: does the API take their keys, what may they do, is it the API we know, where do its events go?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.cli.doctor.findings import Finding, to_check, well, wrong

if TYPE_CHECKING:
    from bot.config import Settings
    from bot.partner.client import PartnerClient
    from bot.partner.errors import PartnerError
    from bot.partner.models import Me
    from bot.partner.secret import Secret
    from storage.store import Store

# What this version calls [Authentication 5]; and scopes that nothing here uses yet.
NEEDED_SCOPES = ("cards:read", "cards:write", "users:read", "users:write")
# Used where browsers can reach the page of card details.
DETAILS_SCOPE = "cards:pan"
UNUSED_SCOPES = (DETAILS_SCOPE, "deposits:read", "deposits:write")


async def all_of(store: Store, settings: Settings) -> AsyncIterator[Finding]:
    """The findings about every program that has a key, the one of the environment included."""
    known = await _known(store, settings)
    if not known:
        yield wrong("program", "No program has an API key: run `countersign keys set main`.")
    for name, (url, key) in sorted(known.items()):
        async for finding in _partner(name, url, key.reveal(), settings.public_url):
            yield finding


async def is_live(store: Store | None, settings: Settings) -> bool:
    """Does any program move real money? Of those of the database too, where it opens."""
    from bot.partner.loopback import is_loopback

    known = await _known(store, settings)
    return any(not is_loopback(urlsplit(url).hostname or "") for url, _ in known.values())


async def _known(store: Store | None, settings: Settings) -> dict[str, tuple[str, Secret]]:
    """The address and the key of every program, by its name."""
    from storage.operators import programs

    known = {}
    if store is not None:
        async with store.read() as tx:
            known = {p.name: (p.base_url, await programs.key(tx, p.name)) for p in await programs.all(tx)}
    if settings.partner_url and settings.partner_key:
        known["main"] = (settings.partner_url, settings.partner_key)
    return known


async def _partner(name: str, url: str, key: str, public_url: str | None) -> AsyncIterator[Finding]:
    from bot.domain.time import SystemClock
    from bot.partner.client import PartnerClient
    from bot.partner.errors import PartnerError
    from bot.partner.key_guard import AccessRefused
    from bot.partner.ratelimit import RateLimiter

    system_clock = SystemClock()
    try:
        client = PartnerClient(url, key, limiter=RateLimiter(system_clock), clock=system_clock)
    except AccessRefused as refusal:
        yield wrong("program", f"Program {name}: {refusal}")
        return
    try:
        me = await client.me()
        yield well(
            "program", f"Program {name}: the API takes the key {client.key_prefix}… of {me.partner.name}."
        )
        for finding in _scopes(name, me, shows_details=bool(public_url)):
            yield finding
        yield await _webhook(client, name, public_url)
    except PartnerError as error:
        yield wrong("program", f"Program {name}: {_api_trouble(error, name, url)}")
        return
    finally:
        await client.aclose()
    async for finding in _drift(name, url):
        yield finding


async def _webhook(client: PartnerClient, name: str, public_url: str | None) -> Finding:
    """Do the program's events come here?"""
    from bot.partner.errors import PartnerError

    ours = f"{public_url}/webhooks/{name}" if public_url else None
    try:
        found = await client.webhook()
    except PartnerError as error:
        return to_check(
            "webhook", f"Program {name}: where its events go could not be read ({error.message})."
        )
    if found is None:
        text = (
            f"Program {name}: no webhook yet. Events are read once a minute; to receive them within seconds, type"
            " /countersign webhook in Slack and register one."
        )
        return to_check("webhook", text)
    if found.url != ours:
        elsewhere = f"not to {ours}" if ours else "and COUNTERSIGN_PUBLIC_URL is not set"
        fix = (
            "Type /countersign webhook in Slack and register the address, or correct COUNTERSIGN_PUBLIC_URL."
            if ours
            else "Set COUNTERSIGN_PUBLIC_URL and restart. Then type /countersign webhook in Slack and register the"
            " address."
        )
        return wrong("webhook", f"Program {name}: its events go to {found.url}, {elsewhere}. {fix}")
    if not found.active:
        return wrong(
            "webhook",
            f"Program {name}: your card provider has switched off its deliveries. Type /countersign webhook in Slack"
            " and register the address again.",
        )
    return well("webhook", f"Program {name}: its events go to {found.url}.")


def _api_trouble(error: PartnerError, name: str, url: str) -> str:
    """What an API that did not say whose key it is answered, and what to do."""
    from bot.partner.errors import NotConnected, Refused, Unauthorized, UnreadableAnswer

    if isinstance(error, Unauthorized):
        return f"{error.message} Set a working key with `countersign keys set {name}`."
    if isinstance(error, NotConnected):
        return f"{url} cannot be reached. Check the address, and the network of this machine."
    if isinstance(error, UnreadableAnswer) or not isinstance(error, Refused):
        return f"{url}: {error.message}. Check the address, and the network of this machine."
    return (
        f"{error.message} The address and the key may be right. Wait a few minutes and run this again; if it continues,"
        f" ask your card provider about {url}."
    )


def _scopes(name: str, me: Me, *, shows_details: bool) -> list[Finding]:
    given = set(me.key.scopes)
    used = {DETAILS_SCOPE} if shows_details else set()
    missing = [scope for scope in NEEDED_SCOPES if scope not in given]
    unused = [scope for scope in UNUSED_SCOPES if scope in given - used]
    found = []
    if missing:
        text = f"the key lacks {', '.join(missing)}. Ask your card provider to grant it."
        found.append(wrong("key_scopes", f"Program {name}: {text}"))
    else:
        found.append(well("key_scopes", f"Program {name}: the key has every scope that is used."))
    if used - given:
        text = f"the key lacks {DETAILS_SCOPE}, so `/card reveal` is refused. Ask your card provider to grant it."
        found.append(to_check("key_scopes", f"Program {name}: {text}"))
    if unused:
        text = f"the key has more scopes than it needs ({', '.join(unused)})."
        found.append(to_check("key_scopes", f"Program {name}: {text}"))
    return found


async def _drift(name: str, url: str) -> AsyncIterator[Finding]:
    """How the API describes itself today, against what this client knows."""
    from bot.partner.openapi import drift, openapi_fetch

    try:
        differences = drift.compare(await openapi_fetch.fetch(url))
    except openapi_fetch.NoDescription as error:
        yield to_check("api", f"Program {name}: {error}")
        return
    if not differences:
        yield well("api", f"Program {name}: the API describes itself as this client knows it.")
    for one in differences:
        finding = wrong if one.weight is drift.Weight.BREAKS else to_check
        yield finding("api", f"Program {name}, {one.place}: {one.says}")
