"""What waiting requests hold of the float: one figure, of one program, wherever it is shown."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from bot.domain.requests import PendingHold, Request
from bot.intents import WhatIf
from bot.partner.secret import Secret
from bot.services import people, requests
from bot.services.alerts import float_rules
from bot.services.core import Core
from bot.services.money import float_lookups
from bot.services.overview import what_if
from bot.services.requests import batch_reading, batch_submission, drafts
from bot.services.snapshots import Account, Kept
from storage.cards import cards
from storage.messages import alerts
from storage.operators import programs
from storage.requests import requests as request_rows
from tests.services.bulk_requests import a_list, ask_bulk
from tests.support.world import ALICE, World

OTHER = "other"


async def two_programs(world: World) -> Core:
    """The world's card 2 belongs to a second program, which has the same account at the simulator."""
    client = world.core.partners["main"]
    world.rebuild(partners={"main": client, OTHER: client})
    async with world.store.begin() as tx:
        await programs.put(tx, OTHER, base_url=world.simulator.base_url, key=Secret(world.simulator.key))
        entry = await cards.get(tx, world.cards[2]["id"])
        assert entry is not None
        await cards.put_many(tx, OTHER, [replace(entry, program=OTHER)])
    return world.core


async def drafted(world: World, *, card: int, amount: str) -> drafts.Preview:
    texts = {"card": world.cards[card]["id"], "amount_usd": amount}
    await people.require_member(world.core, ALICE, action="test")
    draft = await drafts.begin(world.core, owner=ALICE, kind="card_topup", texts=texts, reason="because")
    return await drafts.preview(world.core, draft)


async def waiting(world: World, *, card: int, amount: str) -> Request:
    found = await drafted(world, card=card, amount=amount)
    return await requests.submit(world.core, found.draft.id, ALICE)


async def available_usd(core: Core) -> Decimal:
    return Decimal((await float_lookups.float_now(core)).available_usd)


async def float_alert(core: Core, program: str) -> str:
    """What the alert of a low float says."""
    hundred = Decimal(100)
    value = Account(hundred, hundred, hundred, Decimal(0), None, 0, 0, None)
    await float_rules.look(core, program, Kept(value, core.clock.now()))
    async with core.store.read() as tx:
        found = await alerts.open_one(tx, f"float:{program}")
    assert found is not None
    return found.text


async def test_the_preview_holds_nothing_of_other_programs_requests(world: World) -> None:
    core = await two_programs(world)
    await waiting(world, card=0, amount="10")
    await waiting(world, card=2, amount="70")

    found = await drafted(world, card=1, amount="1")

    assert found.draft.program == "main"
    after_all = f"{await available_usd(core) - 11:,.2f} USD"
    assert ("After all pending", after_all) in found.lines


async def test_the_preview_of_a_batch_holds_nothing_of_other_programs_requests(world: World) -> None:
    core = await two_programs(world)
    await waiting(world, card=2, amount="70")
    read = await batch_reading.begin(core, owner=ALICE, text=a_list(world, "1", "2"))

    found = await batch_submission.preview(core, read.draft_id, ALICE)

    assert found.program == "main"
    assert "After all pending" not in dict(found.lines), "nothing of this program is held"


async def test_every_place_has_the_same_figure_for_each_program(world: World) -> None:
    core = await two_programs(world)
    await waiting(world, card=0, amount="10")
    await ask_bulk(world, a_list(world, "3", "4"))  # a batch counts by its rows, not twice
    await world.ask("card_freeze", {"card": world.cards[1]["id"]})  # takes nothing
    await waiting(world, card=2, amount="70")

    for program, usd, count in (("main", Decimal(17), 3), (OTHER, Decimal(70), 1)):
        async with core.store.read() as tx:
            hold = await request_rows.pending_hold(tx, program, core.float_kinds, core.policy.limits)
        shown = await float_lookups.float_now(core, program=program)
        asked = await what_if.answer(core, WhatIf(1, Decimal(1), orders=False), ALICE, program=program)

        assert hold == PendingHold(usd, count)
        assert f"Requests that wait would take {usd:,.2f} USD." in await float_alert(core, program)
        assert (Decimal(shown.pending_usd), shown.pending_count) == (usd, count)
        assert f"{usd:,.2f} USD in {count} pending" in dict(asked.lines)["Held for requests"]


async def test_what_was_sent_is_no_longer_held(world: World) -> None:
    await world.top_up("10")
    await world.top_up("20", approved=False)
    await world.run_due()

    async with world.store.read() as tx:
        hold = await request_rows.pending_hold(tx, "main", world.core.float_kinds, world.core.policy.limits)

    assert hold == PendingHold(Decimal(20), 1)
