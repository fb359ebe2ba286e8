"""Whose call it is, and whether there is room for it: API key and rate limit (Authentication, Limits)."""

from __future__ import annotations

from datetime import timedelta

from sandbox.partner.accounts import Account, ApiKey, accounts, api_keys
from sandbox.partner.http import Refusal, Request
from sandbox.partner.state import World


def authenticate(world: World, request: Request, *, is_me: bool) -> tuple[ApiKey, Account]:
    """The key and account of a call; one indistinguishable 401 otherwise (Authentication 4)."""
    message = "The API key is missing, unknown or revoked, or the account is suspended."
    refused = Refusal(401, "UNAUTHORIZED", message)
    given = request.header("X-API-Key")
    bearer = [value[7:] for value in request.header("Authorization") if value[:7].lower() == "bearer "]
    key = api_keys.find_key(world, (given or bearer)[0].strip()) if given or bearer else None
    if key is None or key.revoked:
        raise refused
    owner = accounts.account(world, key.account)
    if owner.settings.suspended or (is_me and not given and owner.settings.bearer_on_me == "refuse"):
        raise refused
    return key, owner


def take_slot(world: World, key: ApiKey) -> int:
    """Count a call against the rolling minute; what remains. A refused call takes no slot (U53)."""
    now = world.clock.now().timestamp()
    window = timedelta(minutes=1).total_seconds()
    recent = [at for at in world.recent_calls.get(key.digest, []) if 0 <= now - at < window]
    world.recent_calls[key.digest] = recent
    if len(recent) >= key.rate_limit_per_minute:
        message = f"More than {key.rate_limit_per_minute} requests in a minute."
        raise Refusal(429, "RATE_LIMITED", message, Retry_After="60")
    recent.append(now)
    return key.rate_limit_per_minute - len(recent)
