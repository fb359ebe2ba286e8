"""Which key may go to which address.

Every real key is live and moves real money, and nothing in its form or in `GET /me` tells a test from
the real thing: `mode` is always `live` [Account info]. So the address decides. Keys of the sandbox have
a reserved beginning and are sent to loopback only; any other key is never sent to loopback, where only
a sandbox or a test can be listening.
"""

import re

from bot.partner.http_library import httpx
from bot.partner.loopback import is_loopback
from bot.partner.secret import Secret

SANDBOX_PREFIX = "svc_live_00000000"

_PREFIX = re.compile(r"svc_live_[0-9a-f]{8}")
_HEADER_SAFE = re.compile(r"[!-~]{1,256}")


class AccessRefused(ValueError):
    """This key may not go to this address, or one of the two is malformed. Says what to fix."""


def key_prefix(key: Secret) -> str:
    """The part of the key that may be shown and quoted to the card provider: `svc_live_` and 8 hex digits.

    A key of another form shows nothing of itself.
    """
    match = _PREFIX.match(key.reveal())
    return match.group() if match else "(unknown form)"


def check_access(base_url: str, key: Secret) -> httpx.URL:
    """The base address, without a slash at its end, if this key may be sent there.

    Raises AccessRefused for a sandbox key away from loopback, any other key on loopback, plain http
    away from loopback (the key would cross the network in clear), and malformed addresses or keys.
    """
    url = public_address(base_url)
    secret = key.reveal()
    if not _HEADER_SAFE.fullmatch(secret):
        raise AccessRefused("The API key is empty or has characters that no key has. Set it again.")
    if is_loopback(url.host):
        if not secret.startswith(SANDBOX_PREFIX):
            raise AccessRefused(
                f"This isn't a sandbox key, and {url.host} is this machine: a live key is never used there. "
                f"Use a key that begins {SANDBOX_PREFIX}, or your card provider's own address."
            )
    elif secret.startswith(SANDBOX_PREFIX):
        raise AccessRefused(
            f"This is a sandbox key; it is sent to this machine only, not to {url.host}. "
            "Use the sandbox's address, or the program's own key."
        )
    elif url.scheme != "https":
        raise AccessRefused(f"The address of {url.host} must begin with https, or the key could be read.")
    return url


def public_address(base_url: str) -> httpx.URL:
    """The base address, without a slash at its end. Raises AccessRefused for what is no web address."""
    try:
        url = httpx.URL(base_url.rstrip("/"))
    except httpx.InvalidURL:
        raise AccessRefused("The base address is not a web address.") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise AccessRefused("The base address must begin with https:// and name a host.")
    if url.userinfo or url.query or url.fragment:
        raise AccessRefused("The base address may hold no user name, password, query or fragment.")
    return url
