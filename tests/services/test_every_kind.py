"""One contract for all operation kinds: what each must declare, and that it acts once and finds the truth."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from bot import operations
from bot.domain.requests import Request, State
from bot.intents import Facts, KnownCard, parse
from bot.operations import Operation, Sought, loaded_facts, stored_facts
from bot.outcomes import Evidence
from bot.partner.codec import decode, encode
from bot.services.conversation import forms
from storage.requests import requests as rows
from tests.services.outcome_steps import card_balance, execute, jump
from tests.support.kinds import CALLING, EACH, HASH, PATH, TEXTS, asked, kind_class
from tests.support.situations import no_faults
from tests.support.world import World

pytestmark = pytest.mark.usefixtures("deposits_are_set_up")

# What a look shows after the call went through and its answer was lost: a secret is then lost for good.
LOST = {
    "card_topup": Evidence.DEBITED,
    # The ledger names it by its key, and says nothing of how it ended.
    "card_unload": Evidence.TRACED,
    # What no call reads back; only the same call again tells.
    "card_phone": Evidence.UNPROVEN,
    "card_3ds": Evidence.UNPROVEN,
    "event_redeliver": Evidence.ABSENT,
    "webhook_register": Evidence.UNDONE,
    "webhook_rotate": Evidence.UNDONE,
}
# The client itself repeats these up to three times.
REPEATED_BY_THE_CLIENT = ("funding_submit", "event_redeliver")
MOVED_USD = {"card_topup": Decimal(50), "card_unload": Decimal(-5)}
# Showing card details makes a link and calls nothing; test_reveal.py holds it to that.

# Each call makes another quote, so it is made once and then only looked at: see test_other_kinds.py.
ONCE = pytest.mark.parametrize("kind", [kind for kind in operations.kinds() if kind != "deposit_quote"])


def sought(world: World, request: Request) -> Sought:
    return Sought(request.key, world.clock.now(), world.clock.now(), loaded_facts(request.facts))


SHOWN = ("status", "balance_usd", "daily_limit", "weekly_limit", "monthly_limit", "three_ds_method")


async def taken(world: World) -> list[Any]:
    calls = [*await world.sent("PUT /phone"), *await world.sent("POST /redeliver")]
    return [call for call in calls if call["status"] == 200]


async def effects(world: World) -> dict[str, Any]:
    """What the simulator holds that a kind can change."""
    state = await world.state()
    hook = await world.core.partners["main"].webhook()
    return {
        "webhook": hook and (hook.url, hook.updated_at),
        "cards": {c["id"]: [c[name] for name in SHOWN] for c in state["cards"]},
        "markup": state["account"]["markup_pct"],
        "deposits": len(await world.core.partners["main"].deposits()),
        # The simulator keeps no phone, and an event that is queued again looks as it did.
        "taken": sorted({(c["path"], str(c["body"])) for c in await taken(world)}),
        "float": state["float"]["balance_usd"],
        "funding": [f["tx_hash"] for f in state["funding"]],
    }


def test_every_kind_built_has_an_example_here() -> None:
    assert set(TEXTS) == set(operations.kinds()), "TEXTS of tests/support/kinds.py has one for each kind"


@EACH
def test_a_kind_declares_itself_within_what_slack_takes(kind: str) -> None:
    cls = kind_class(kind)
    assert len(cls.title) <= 24
    assert cls.place < Operation.place, "no place among the kinds"
    assert cls.example.startswith(f"/{cls.command[0]} {cls.command[1]}")
    assert cls.verb
    assert cls.help
    assert cls.phrases
    assert len({f.name for f in cls.fields}) == len(cls.fields)
    for phrase in cls.phrases:
        for name in (f.name for f in cls.fields if f"{{{f.name}}}" in phrase):
            assert f"{{{name}}}" in phrase
    assert [other for other in operations.kinds().values() if other.command == cls.command] == [cls]


SAID = {
    "card": "4242",
    "amount_usd": "50",
    "card_holder_name": "Tom Baker",
    "tx_hash": HASH,
    "network": "polygon",
    "daily_limit": "120",
    "weekly_limit": "900",
    "monthly_limit": "2000",
    "phone": "+46701234567",
    "markup_percent": "2.5%",
    "event_id": "evt_1",
    "url": "https://a.example.com/x",
}


@EACH
def test_its_phrases_are_read_as_a_request_for_it(kind: str) -> None:
    card = KnownCard("4242", "NORA QUIST", "emp-1", "card1", "ACTIVE")
    facts = Facts(now=datetime(2026, 3, 2, 9, tzinfo=UTC), cards=(card,))
    fields = {f"{{{field.name}}}" for field in kind_class(kind).fields}
    for phrase in kind_class(kind).phrases:
        unsaid = [name for name in fields if name in phrase and name.strip("{}") not in SAID]
        assert not unsaid, f"SAID has nothing for {unsaid}"
        reading = parse(phrase.format(**SAID), facts, kinds=operations.kinds()).first

        meant = reading.wanted or reading.intent
        assert forms.kind_of(meant, operations.kinds()) is kind_class(kind), phrase
        assert reading.opened or reading.ask is not None, phrase


@EACH
async def test_the_summary_names_every_public_field_and_no_private_one(world: World, kind: str) -> None:
    request = await asked(world, kind)
    cls = kind_class(kind)
    async with world.store.read() as tx:
        private = (await rows.frozen(tx, request.id)).private
    for field in cls.fields:
        shown = request.subject_label if field.card else request.terms.get(field.name, "")
        assert shown.removesuffix(".00") in request.summary.replace(",", ""), field.name
        if field.private:
            assert private[field.name] not in request.summary
            assert private[field.name] not in json.dumps(dict(request.terms))
    assert set(private) == {f.name for f in cls.fields if f.private}


@EACH
async def test_its_facts_are_stored_as_text_and_read_back_as_amounts(world: World, kind: str) -> None:
    request = await asked(world, kind)

    facts = loaded_facts(request.facts)
    assert stored_facts(facts) == request.facts
    assert not any(isinstance(value, Decimal) for value in request.facts.values())
    for name, value in facts.items():
        if name.endswith(("_usd", "_fraction", "_pct", "_limit")):
            assert value is None or isinstance(value, Decimal), name


@CALLING
async def test_the_frozen_body_is_sent_byte_for_byte(world: World, kind: str) -> None:
    request = await asked(world, kind)
    async with world.store.read() as tx:
        body = (await rows.frozen(tx, request.id)).body
    assert encode(decode(body)) == body
    await world.approve(request)
    await execute(world, request)

    method, path = PATH[kind].split(" ")
    sent = (await world.sent(f"{method} {path.rpartition('/')[2] and '/' + path.rpartition('/')[2]}"))[-1]
    assert (sent["body"] or {}) == json.loads(body)


@ONCE
async def test_sent_twice_under_one_key_it_has_one_effect(world: World, kind: str) -> None:
    request = await asked(world, kind)
    async with world.store.read() as tx:
        frozen = await rows.frozen(tx, request.id)
    operation = kind_class(kind).of_stored(request.terms, request.subject_label, private=frozen.private)
    partner = world.core.partners["main"]

    await operation.send(partner, request.key, frozen.body)
    once = await effects(world)
    await operation.send(partner, request.key, frozen.body)

    assert await effects(world) == once


@pytest.mark.by_turns(5)
@CALLING
async def test_after_a_lost_answer_looking_tells_the_truth_and_the_request_ends_well(
    world: World, kind: str
) -> None:
    before_usd = card_balance(world)
    request = await asked(world, kind)
    started = await effects(world)
    operation = kind_class(kind).of_stored(request.terms, request.subject_label)
    partner = world.core.partners["main"]
    nothing = await operation.look(partner, sought(world, request))
    assert nothing.evidence in (Evidence.ABSENT, Evidence.UNSEEN, Evidence.UNPROVEN), (
        "seen before it was sent"
    )

    # The client repeats a freeze and a submission by itself; both answers are lost.
    lost = 4 if kind in REPEATED_BY_THE_CLIENT else 2
    await world.fault("drop_after_commit", PATH[kind], times=lost)
    await world.approve(request)
    assert (await execute(world, request)).state is State.EXECUTING
    assert await effects(world) != started
    found = await operation.look(partner, sought(world, request))
    assert found.evidence is LOST.get(kind, Evidence.DONE)
    assert found.text.endswith(".")

    await no_faults(world)
    once = await effects(world)
    answer = State.FAILED if LOST.get(kind) is Evidence.UNDONE else State.SUCCEEDED
    assert (await jump(world, request)).state is answer
    assert await effects(world) == once, "moved twice"
    moved_usd = -before_usd if kind == "card_close" else MOVED_USD.get(kind, Decimal(0))
    assert card_balance(world) == before_usd + moved_usd


@EACH
async def test_preview_lines_and_concerns_are_readable_from_what_was_stored(world: World, kind: str) -> None:
    request = await asked(world, kind)
    again = await world.request(request.id)
    operation = kind_class(kind).of_stored(again.terms, again.subject_label)
    facts = loaded_facts(again.facts)
    lines = operation.lines(facts)
    assert lines
    assert all(label and value and "None" not in value for label, value in lines)
    assert all(c.text.endswith(".") for c in operation.concerns(facts))
