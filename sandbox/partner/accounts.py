"""Partner accounts: settings, keys, scopes, the rolling rate limit.

Only a digest of a key is stored, so a key cannot leak from the database, the journal or the viewer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec

from sandbox.partner import money
from sandbox.partner.http import Refusal, Request
from sandbox.partner.settings import Settings
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
OPENED_AT = "2024-01-01T00:00:00.000Z"  # long before any transfer a test is likely to script


@dataclass(frozen=True)
class Account:
    """A partner as of now; read again after anything that may change it."""

    id: str
    name: str | None
    contact_email: str | None
    created_at: str
    settings: Settings
    funded_usd: Decimal
    spent_usd: Decimal
    markup_pct: Decimal
    accrued_usd: Decimal
    paid_out_usd: Decimal
    last_payout_at: str | None
    cards_ordered: int
    open_cards: int
    ledger_rows: int
    ledger_last_at: str
    ledger_in_order: bool
    net_topups_usd: Decimal

    @property
    def balance_usd(self) -> Decimal:
        return money.add(self.funded_usd, -self.spent_usd)


@dataclass(frozen=True)
class ApiKey:
    digest: str
    account: str
    name: str | None
    prefix: str
    scopes: tuple[str, ...]
    rate_limit_per_minute: int
    revoked: bool


def open_account(world: World, name: str, contact_email: str | None) -> str:
    """Open an account with everything at its default; its id."""
    number = world.store.count("account")
    account_id = world.ids.uuid(f"account:{number}")
    world.store.insert(
        "accounts",
        id=account_id,
        seq=number,
        name=name,
        contact_email=contact_email,
        created_at=OPENED_AT,
        **_fresh(),
    )
    return account_id


def _fresh() -> dict[str, Any]:
    return {
        "settings": _dump(Settings()),
        "funded_usd": "0",
        "spent_usd": "0",
        "markup_pct": "0",
        "accrued_usd": "0",
        "paid_out_usd": "0",
        "last_payout_at": None,
        "cards_ordered": 0,
        "open_cards": 0,
        "ledger_rows": 0,
        "ledger_last_at": "",
        "ledger_in_order": 1,
        "net_topups_usd": "0",
    }


def reset_all(world: World) -> None:
    """Every account back to the empty start; accounts and their keys stay."""
    for row in world.store.all("SELECT id FROM accounts"):
        world.store.update("accounts", "id", row["id"], **_fresh())


def first_account(world: World) -> str:
    """The account that control calls mean when they name none."""
    row = world.store.one("SELECT id FROM accounts ORDER BY seq LIMIT 1")
    if row is None:
        raise LookupError("the simulator has no account")
    return str(row["id"])


def account(world: World, account_id: str) -> Account:
    """Raises KeyError for an unknown id."""
    row = world.store.one("SELECT * FROM accounts WHERE id = ?", account_id)
    if row is None:
        raise KeyError(account_id)
    values = {name: row[name] for name in row.keys() if name != "seq"}  # noqa: SIM118 - a Row is no dict
    for name in ("funded_usd", "spent_usd", "markup_pct", "accrued_usd", "paid_out_usd", "net_topups_usd"):
        values[name] = Decimal(values[name])
    values["ledger_in_order"] = bool(values["ledger_in_order"])
    return Account(**{**values, "settings": msgspec.json.decode(row["settings"], type=Settings)})


def all_accounts(world: World) -> list[Account]:
    return [account(world, row["id"]) for row in world.store.all("SELECT id FROM accounts ORDER BY seq")]


def change_settings(world: World, account_id: str, changes: dict[str, Any]) -> Settings:
    """Apply named changes; raises msgspec.ValidationError naming an unknown field or value."""
    current = msgspec.to_builtins(account(world, account_id).settings)
    settings = msgspec.convert({**current, **changes}, Settings)
    world.store.update("accounts", "id", account_id, settings=_dump(settings))
    return settings


def _dump(settings: Settings) -> str:
    return msgspec.json.encode(settings).decode()


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
    row = world.store.one("SELECT * FROM api_keys WHERE digest = ?", _digest(key))
    if row is None:
        return None
    return ApiKey(
        row["digest"],
        row["account"],
        row["name"],
        row["prefix"],
        tuple(row["scopes"].split()),
        row["rate_limit_per_minute"],
        bool(row["revoked"]),
    )


def revoke(world: World, key: ApiKey) -> None:
    world.store.update("api_keys", "digest", key.digest, revoked=1)


def authenticate(world: World, request: Request, *, is_me: bool) -> tuple[ApiKey, Account]:
    """The key and account of a call; one indistinguishable 401 otherwise (Authentication 4)."""
    message = "The API key is missing, unknown or revoked, or the account is suspended."
    refused = Refusal(401, "UNAUTHORIZED", message)
    given = request.header("X-API-Key")
    bearer = [value[7:] for value in request.header("Authorization") if value[:7].lower() == "bearer "]
    key = find_key(world, (given or bearer)[0].strip()) if given or bearer else None
    if key is None or key.revoked:
        raise refused
    owner = account(world, key.account)
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
