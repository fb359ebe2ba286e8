"""The page for passkeys shows what the window in Slack shows: all that is signed, and what is true now."""

from __future__ import annotations

import pytest

from bot.domain.requests import Request
from bot.services.passkeys import page
from bot.services.passkeys.page_content import Page
from bot.services.requests import approvals, request_lookups
from tests.services.bulk_requests import ask_bulk
from tests.services.outcome_steps import processor
from tests.support import posting
from tests.support.passkeys import Devices, everybody_has_one
from tests.support.world import BOB, CAROL, World

PHONE = {"phone_country_code": "48", "phone": "601234567"}


@pytest.fixture
async def devices(world: World) -> Devices:
    return await everybody_has_one(world)


async def opened(devices: Devices, request: Request, by: str = BOB) -> Page:
    return await devices.open(await devices.link(request, by))


async def of_every_form(world: World) -> list[Request]:
    card = world.cards[0]["id"]
    asked = [
        ("card_topup", {"card": card, "amount_usd": "50"}),
        ("card_unload", {"card": card, "amount_usd": "5"}),
        ("card_phone", {"card": card, **PHONE}),
        ("card_freeze", {"card": card}),
        ("card_close", {"card": card, "last4": world.cards[0]["last4"]}),
        ("card_limits", {"card": card, "daily_limit": "700"}),
    ]
    return [await world.ask(kind, fields) for kind, fields in asked]


async def test_the_page_shows_every_line_of_the_window(world: World, devices: Devices) -> None:
    for request in await of_every_form(world):
        await posting.post(world.core, request.id)
        standing = await approvals.require_may_approve(world.core, request.id, BOB)
        window = await request_lookups.confirmation(world.core, request.id, BOB)
        private = await request_lookups.in_full(world.core, request.id, BOB, standing)

        shown = await opened(devices, request)

        missing = {*window.lines, *private} - {*shown.lines}
        assert not missing, (request.kind, missing)
        assert {one.text for one in window.concerns} <= {*shown.warnings}


async def test_what_is_masked_elsewhere_is_shown_in_full_to_who_signs_it(
    world: World, devices: Devices
) -> None:
    request = await world.ask("card_phone", {"card": world.cards[0]["id"], **PHONE})

    shown = await opened(devices, request)

    assert PHONE["phone"] in dict(shown.lines).values()


async def test_the_page_shows_what_is_true_now_and_what_changed_since(world: World, devices: Devices) -> None:
    request = await world.top_up("50", approved=False)
    other = await world.top_up("60", approved=False)
    await devices.approve(other)
    await world.run_due()

    shown = await opened(devices, request, CAROL)

    assert any(
        text.startswith("Changed since it was requested: Float available: now ") for text in shown.warnings
    )


async def test_the_page_says_when_the_card_provider_could_not_be_read(world: World, devices: Devices) -> None:
    request = await world.top_up("50", approved=False)
    url = await devices.link(request, BOB)
    await world.fault("status", "GET /me", status=503, times=20)
    await world.fault("status", "GET /cards/{cardId}", status=503, times=20)

    shown = await devices.open(url)
    done = await page.finish(world.core, shown.token, devices[BOB].answer(shown.options))

    assert any("could not be read just now" in text for text in shown.warnings)
    assert "so it is not sent yet" in done.text


async def test_every_row_of_a_list_is_on_the_page_with_its_private_values(
    world: World, devices: Devices
) -> None:
    rows = [f"Max Muster {name},49,1511234567{n},max{n}@example.com" for n, name in enumerate("AB")]
    batch = await ask_bulk(world, "\n".join(["name,country,phone,email", *rows]))

    shown = await opened(devices, batch)

    assert len(shown.rows) == 2
    for n, row in enumerate(shown.rows):
        assert f"1511234567{n}" in row
        assert f"max{n}@example.com" in row


async def test_the_page_says_what_follows(world: World, devices: Devices) -> None:
    one, two = await world.top_up("50", approved=False), await world.top_up("600", approved=False)

    first, second = await opened(devices, one), await opened(devices, two)

    assert first.lead.endswith("You give approval 1 of 1. Approving sends it immediately.")
    assert second.lead.endswith("You give approval 1 of 2. It needs 1 more approval after yours.")


async def test_what_waits_for_another_request_is_not_said_to_be_sent_now(
    world: World, devices: Devices
) -> None:
    await processor("5xx").set(world, "POST /cards/{cardId}/topup")
    first = await world.top_up("50", approved=False)
    await devices.approve(first)
    await world.run_due()
    request = await world.top_up("51", approved=False)

    done = await devices.approve(request)

    assert f"it waits for {first.id}" in done.text
