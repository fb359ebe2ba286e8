"""A genuine event may say anything: whatever one of its values is, it is refused or handled, and none stays."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.events.receiving import Bot, authorized
from tests.partner.test_typed_events import CHALLENGE, DECLINED, PURCHASE

DATA: dict[str, dict[str, Any]] = {
    "card.authorized": PURCHASE,
    "card.transaction": {**PURCHASE, "event": "cleared", "status": "settled"},
    "card.declined": DECLINED,
    "card.unloaded": {"card_id": "card-1", "partner_ref": "emp-1", "amount_usd": 5, "reason": "partner"},
    "card.status_changed": {"card_id": "card-1", "partner_ref": "emp-1", "status": "FROZEN", "reason": "x"},
    "card.3ds_challenge": CHALLENGE,
    "float.credited": {"funding_id": "f-1", "fee_usd": 2, "credited_usd": 97.9},
}
TIMES = (
    "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00",
    "1969-12-31T23:59:59Z", "2026-03-02T09:00:00", "soon",
)  # fmt: skip
NUMBERS = ("0", "-0", "-1", "1e12", "1e18", "-1e18", "0.00000000000000000001", "9" * 60, "1e400", '"12.3"')
TEXTS = ('""', json.dumps("x" * 9000), '"\\u0000"', '"\\ud800"', '"\\u202e*a*"', "[]", "{}", "7")


def spoiled(kind: str) -> Iterator[tuple[str, bytes]]:
    """The event of a kind with each of its values once at each extreme: what was changed, and the bytes."""
    whole = {"created_at": "2026-03-02T09:00:00Z", "data": DATA[kind]}
    for path, value in leaves(whole):
        times = [json.dumps(time) for time in TIMES] if path.endswith("_at") else []
        for token in [*times, *(NUMBERS if isinstance(value, int | float) else TEXTS), "null", "true"]:
            body = json.dumps(replaced({**whole, "type": kind, "id": "event-id"}, path, "VALUE"))
            yield f"{path} = {token[:40]}", body.replace('"VALUE"', token).encode()


def leaves(value: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        here = f"{path}.{name}".lstrip(".")
        if isinstance(inner, dict):
            yield from leaves(inner, here)
        else:
            yield here, inner


def replaced(value: dict[str, Any], path: str, by: str) -> dict[str, Any]:
    name, _, rest = path.partition(".")
    return {**value, name: replaced(value[name], rest, by) if rest else by}


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("kind", DATA)
async def test_whatever_one_value_of_an_event_is_the_event_is_refused_or_handled(bot: Bot, kind: str) -> None:
    taken, changes = 0, list(spoiled(kind))
    said = {}
    for number, (changed, body) in enumerate(changes):
        event_id = f"evt-{number}"
        said[event_id] = changed
        status = await bot.post(body.replace(b"event-id", event_id.encode()))
        assert status == 200 or 400 <= status < 500, changed
        taken += status == 200
    await bot.deliver(bot.event("card.authorized", authorized("tx-after"), event_id="after"))

    await bot.handle()

    assert [said.get(left, left) for left in await bot.unhandled()] == []
    assert await bot.purchase("tx-after") is not None
    assert 0 < taken < len(changes)
