"""Bad input: a clear sentence on the field it belongs to, and nothing stored but the audit of the refusal."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from bot.domain.errors import InvalidFields
from bot.services.requests import drafts
from storage.cards import cards
from tests.support.kinds import NORA
from tests.support.world import ALICE, World

HASH = "0x" + "ab" * 32
TOPUP = {"card": "emp-1042", "amount_usd": "50"}
FUNDING = {"tx_hash": HASH, "network": "POLYGON"}
GOOD: dict[str, dict[str, str]] = {"card_order": NORA, "card_topup": TOPUP, "funding_submit": FUNDING}

BAD = [
    *(
        ("card_topup", "amount_usd", text)
        for text in ("0", "-1", "0.001", "1e3", "1,50", "words", "1000000000000")
    ),
    *(("card_topup", "amount_usd", text) for text in ("NaN", "Infinity", "", "  ", "１００", "50 USD")),
    *(
        ("card_topup", "card", text)
        for text in ("", "9999", "NOBODY AT ALL", "4242 4242 4242 4242", "<!here>")
    ),
    *(
        ("card_order", "card_holder_name", text)
        for text in ("A" * 27, "Groß", "Иван", "An\x00na", "<@U0BOB>", "")
    ),
    *(("card_order", "phone", text) for text in ("12", "+46701234567", "nine")),
    *(("card_order", "phone_country_code", text) for text in ("0", "SE", "-46")),
    *(("card_order", "email", text) for text in ("nora", "<mailto:n@e.co|n@e.co>")),
    *(("card_order", "partner_ref", text) for text in ("x" * 129, "5555 5555 5555 4444")),
    *(("funding_submit", "tx_hash", text) for text in (HASH[:-1], HASH + "0", "0x" + "zz" * 32, "")),
    *(("funding_submit", "network", text) for text in ("ETH", "")),
    *(("card_topup", "reason", text) for text in ("", " \n", "x" * 1001, "for 4242424242424242")),
]


def _rows(world: World) -> dict[str, int]:
    """How many rows each table has."""
    with closing(sqlite3.connect(world.database)) as connection:
        names = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {n: connection.execute(f'SELECT count(*) FROM "{n}"').fetchone()[0] for n in names}


def _bytes(world: World) -> bytes:
    return b"".join(path.read_bytes() for path in world.database.parent.glob("bot.db*"))


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(("kind", "field", "text"), BAD, ids=lambda value: ascii(value)[1:30])
async def test_a_bad_value_is_answered_on_its_field_and_leaves_nothing_behind(
    world: World, kind: str, field: str, text: str
) -> None:
    texts, reason = dict(GOOD[kind]), "because"
    if field == "reason":
        reason = text
    else:
        texts[field] = text
    before = _rows(world)

    with pytest.raises(InvalidFields) as found:
        await drafts.begin(world.core, owner=ALICE, kind=kind, texts=texts, reason=reason)

    assert set(found.value.errors) == {field}
    sentence = found.value.errors[field]
    assert sentence.endswith((".", "”")), sentence
    assert "4242 4242" not in sentence
    after = _rows(world)
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert changed == {"audit": 1}
    # What was typed is nowhere; very short texts are everywhere.
    if len(text.strip()) > 8:
        assert text.encode() not in _bytes(world)


async def test_every_bad_field_is_reported_at_once(world: World) -> None:
    with pytest.raises(InvalidFields) as found:
        await drafts.begin(
            world.core, owner=ALICE, kind="card_topup", texts={"card": "9999", "amount_usd": "-1"}, reason=""
        )
    assert set(found.value.errors) == {"card", "amount_usd", "reason"}


async def test_a_card_that_fits_several_is_answered_with_the_candidates(world: World) -> None:
    first = world.cards[0]
    async with world.store.begin() as tx:
        entry = await cards.get(tx, first["id"])
        assert entry is not None
        twin = type(entry)(
            id="twin", program="main", holder=entry.holder, last4="0001", partner_ref="emp-9999"
        )
        await cards.put_many(tx, "main", [twin])

    with pytest.raises(InvalidFields) as found:
        await drafts.begin(
            world.core, owner=ALICE, kind="card_freeze", texts={"card": "marta kowalska"}, reason="lost"
        )
    said = found.value.errors["card"]
    assert "fits 2 cards" in said
    for part in (first["last4"], "emp-1042", "0001", "emp-9999"):
        assert part in said


async def test_ids_are_told_apart_by_case_and_never_folded(world: World) -> None:
    """The demo's fifth card has the fourth's id with its case swapped (R056)."""
    one, other = world.cards[3], world.cards[4]
    assert one["id"] != other["id"]
    assert one["id"].lower() == other["id"].lower()
    for card in (one, other):
        draft = await drafts.begin(
            world.core, owner=ALICE, kind="card_freeze", texts={"card": card["id"]}, reason="lost"
        )
        assert draft.values["card"] == card["id"]


@pytest.mark.parametrize("named", ["last4", "partner_ref", "card_holder_name", "id"])
async def test_a_card_is_named_by_any_of_its_names(world: World, named: str) -> None:
    card: dict[str, Any] = world.cards[2]
    draft = await drafts.begin(
        world.core, owner=ALICE, kind="card_freeze", texts={"card": card[named]}, reason="lost"
    )
    assert draft.values["card"] == card["id"]


async def test_markup_in_a_reason_is_kept_as_typed_and_control_characters_are_not(world: World) -> None:
    typed = "<!channel> *now* <@U0BOB> & `co\x00de`\u202e"
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, reason=typed)
    assert request.reason == "<!channel> *now* <@U0BOB> & `code`"


async def test_personal_details_of_an_order_are_sealed_and_masked_and_gone_when_it_is_settled(
    world: World,
) -> None:
    request = await world.ask("card_order", {**NORA, "phone": "7019998877", "email": "canary@example.org"})
    assert request.terms["phone"] == "••••8877"
    assert request.terms["email"] == "c•••@•••.org"
    for secret in (b"7019998877", b"canary@example.org", b"canary"):
        assert secret not in _bytes(world)
    assert b"Nora" in _bytes(world).replace(b"NORA", b"Nora"), "the scan finds what is there"
