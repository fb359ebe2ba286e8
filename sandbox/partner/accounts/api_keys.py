"""API keys: issued, found, revoked (Authentication).

Only a digest of a key is stored, so a key cannot leak from the database, the journal or the viewer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sandbox.partner.state import KEY_PREFIX, World

SCOPES = (
    "users:read",
    "users:write",
    "cards:read",
    "cards:write",
    "cards:pan",
    "deposits:read",
    "deposits:write",
)
RATE_LIMIT_PER_MINUTE = 120  # Limits: the default per rolling minute per key


@dataclass(frozen=True)
class ApiKey:
    """An API key as stored: its number, its digest, its shown prefix, its scopes, its calls a minute."""

    number: int

    digest: str
    account: str
    name: str | None
    prefix: str
    scopes: tuple[str, ...]
    rate_limit_per_minute: int
    revoked: bool


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def issue_key(
    world: World,
    account_id: str,
    *,
    key: str | None = None,
    name: str | None = None,
    scopes: tuple[str, ...] = SCOPES,
    rate_limit_per_minute: int = RATE_LIMIT_PER_MINUTE,
) -> str:
    """Issue a key; the only moment at which it is known in full."""
    key = key or world.ids.key()
    if not key.startswith(KEY_PREFIX):
        raise ValueError(f"a sandbox key begins {KEY_PREFIX}")
    world.store.run(
        "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (digest) DO NOTHING",
        _digest(key),
        account_id,
        name,
        key[: len("svc_live_") + 8],
        " ".join(scopes),
        rate_limit_per_minute,
    )
    return key


def find_key(world: World, key: str) -> ApiKey | None:
    """The stored key with this text, revoked or not; None for an unknown one."""
    row = world.store.one("SELECT rowid AS number, * FROM api_keys WHERE digest = ?", _digest(key))
    return None if row is None else _of(row)


def all_keys(world: World) -> list[ApiKey]:
    """Every key of every account, in the order in which they were issued."""
    return [_of(row) for row in world.store.all("SELECT rowid AS number, * FROM api_keys ORDER BY rowid")]


def _of(row: Any) -> ApiKey:
    return ApiKey(
        row["number"],
        row["digest"],
        row["account"],
        row["name"],
        row["prefix"],
        tuple(row["scopes"].split()),
        row["rate_limit_per_minute"],
        bool(row["revoked"]),
    )


def revoke(world: World, key: ApiKey) -> None:
    """Revoke a key; from now on its calls are a 401 (Authentication)."""
    world.store.update("api_keys", "digest", key.digest, revoked=1)


def forget(world: World, key: str) -> None:
    """Drop a key without a trace, the calls that it made in the last minute included."""
    world.store.run("DELETE FROM api_keys WHERE digest = ?", _digest(key))
    world.recent_calls.pop(_digest(key), None)
