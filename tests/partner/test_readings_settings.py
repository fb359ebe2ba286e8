"""What the document says of a card's settings, its details, the webhook and deposits, at the simulator."""

from collections.abc import AsyncIterator
from decimal import Decimal

import httpx
import pytest

from bot.partner import codec, errors
from bot.partner.certainty import Certainty
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from tests.partner.simulated import World, simulated
from tests.support.clock import FrozenClock

URL = b'{"url":"https://hooks.example.com/in"}'
ROTATE = b'{"url":"https://hooks.example.com/in","rotate":true}'


@pytest.fixture(params=["plausible", "documented", "scrambled"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with simulated(request.param) as world:
        yield world


# Limits, phone, 3-D Secure


@pytest.mark.rule("R122", "R123", "R124", "R125")
async def test_limits_are_set_one_by_one_and_read_back(world: World) -> None:
    """R122, R123, R124, R125."""
    card_id = await world.funded_card()
    never = await world.client.limits(card_id)

    first = await world.client.set_limits(card_id, b'{"daily_limit":100.50}')
    second = await world.client.set_limits(card_id, b'{"monthly_limit":2000}')

    assert (never.daily_limit, never.weekly_limit, never.monthly_limit) == (None, None, None)
    assert (first.daily_limit, first.monthly_limit) == (Decimal("100.50"), None)
    assert (second.daily_limit, second.monthly_limit) == (Decimal("100.50"), Decimal(2000))
    assert second.weekly_limit is None
    assert second == await world.client.limits(card_id)
    assert second.per_transaction_limit_usd == 5000


@pytest.mark.rule("R030", "R122", "R123")
@pytest.mark.parametrize(
    "body",
    [b'{"daily_limit":0}', b'{"daily_limit":null}', b'{"daily_limit":"5"}', b'{"daily_limit":1.001}',
     b'{"daily_limit":-1}', b'{"per_transaction_limit_usd":100}', b'{"daily_limit":5,"x":1}'],
)  # fmt: skip
async def test_a_limit_can_be_neither_removed_nor_set_to_nothing(world: World, body: bytes) -> None:
    """R030, R122, R123."""
    card_id = await world.funded_card()
    before = await world.client.set_limits(card_id, b'{"daily_limit":7}')

    with pytest.raises(errors.BadRequest) as refused:
        await world.client.set_limits(card_id, body)

    assert refused.value.certainty is Certainty.DEFINITE
    assert await world.client.limits(card_id) == before


@pytest.mark.rule("R133")
async def test_a_new_phone_is_taken_and_not_echoed(world: World) -> None:
    """R133."""
    card_id = await world.funded_card()

    done = await world.client.set_phone(card_id, b'{"phone_country_code":49,"phone":"15123456780"}')

    assert done.updated
    assert "15123456780" not in str(done.raw)


@pytest.mark.rule("R064", "R065", "R067")
@pytest.mark.parametrize(
    ("code", "phone", "kind", "field"),
    [
        ("49", '"1111111111"', errors.InvalidDetail, "phone"),
        ("49", '"123"', errors.InvalidDetail, "phone"),
        ("98", '"9123456789"', errors.InvalidDetail, "phone_country_code"),
        ("49", "15123456780", errors.BadRequest, None),
        ("4.5", '"15123456780"', errors.BadRequest, None),
    ],
)
async def test_a_refused_phone_says_which_part_and_not_the_number(
    world: World, code: str, phone: str, kind: type[errors.Refused], field: str | None
) -> None:
    """R064, R065, R067."""
    await world.act("account", {"countries_refused": [98]})
    card_id = await world.funded_card()

    with pytest.raises(kind) as refused:
        await world.client.set_phone(card_id, f'{{"phone_country_code":{code},"phone":{phone}}}'.encode())

    assert getattr(refused.value, "field", None) == field
    assert refused.value.certainty is Certainty.DEFINITE
    assert phone.strip('"') not in str(vars(refused.value))


@pytest.mark.rule("R139", "R140", "R141")
async def test_webhook_mode_needs_an_endpoint_and_there_is_no_way_back(world: World) -> None:
    """R139, R140, R141: that the program lacks the mode is not shown."""
    card_id = await world.funded_card()
    mode = b'{"method":"webhook"}'

    with pytest.raises(errors.BadRequest) as refused:
        await world.client.set_3ds(card_id, mode)
    await world.client.set_webhook(URL)
    done = await world.client.set_3ds(card_id, mode)
    again = await world.client.set_3ds(card_id, mode)
    with pytest.raises(errors.BadRequest):
        await world.client.set_3ds(card_id, b'{"method":"sms"}')

    assert refused.value.certainty is Certainty.DEFINITE
    assert done.three_ds_method == again.three_ds_method == "webhook"


# Card details


@pytest.mark.rule("R143", "R144", "R145")
async def test_each_look_at_a_card_has_an_address_of_its_own_and_a_closed_card_has_one_too(
    world: World,
) -> None:
    """R143, R144, R145."""
    card_id = await world.funded_card()
    await world.client.close(card_id, key="c1")

    first, second = [await world.client.details(card_id) for _ in range(2)]
    tokens = [await world.client.mint_pan_token(card_id) for _ in range(2)]

    assert first.details_url.reveal() != second.details_url.reveal()
    assert tokens[0].url.reveal() != tokens[1].url.reveal()
    assert (tokens[0].expires_in, tokens[0].single_use) == (Decimal(60), True)
    assert not {"pan", "cvv"} & (set(first.raw) | set(tokens[0].raw))


@pytest.mark.rule("R145", "R147")
async def test_a_token_is_good_for_one_opening_and_minting_opens_none(world: World) -> None:
    """R145, R147: opened here by a device without a key, as the end user's would."""
    card_id = await world.funded_card()
    token = (await world.client.mint_pan_token(card_id)).url.reveal()

    async with httpx.AsyncClient(trust_env=False, verify=False) as device:
        answers = [(await device.get(token)).status_code for _ in range(2)]

    assert answers == [200, 404]


@pytest.mark.rule("R144")
async def test_an_expiry_that_is_not_known_is_none_and_without_a_page_there_is_no_answer(
    world: World,
) -> None:
    """R144."""
    card_id = await world.funded_card()
    await world.act(f"cards/{card_id}", {"expiry_known": False})
    found = await world.client.details(card_id)
    await world.act(f"cards/{card_id}", {"details_available": False})

    with pytest.raises(errors.Unavailable) as refused:
        await world.client.details(card_id)

    assert (found.expiration_month, found.expiration_year) == (None, None)
    assert (refused.value.status, refused.value.attempts) == (502, 1)


@pytest.mark.rule("R011")
async def test_to_see_a_card_takes_a_scope_of_its_own(world: World) -> None:
    """R011."""
    card_id = await world.funded_card()
    key = (await world.act("keys", {"scopes": ["cards:read", "cards:write"]}))["key"]
    client = world.other_client(key)

    for call in (client.details, client.mint_pan_token):
        with pytest.raises(errors.Forbidden, match="cards:pan"):
            await call(card_id)
    await client.aclose()


# Webhook


@pytest.mark.rule("R208", "R209", "R210", "R212")
async def test_a_secret_is_given_when_there_was_none_when_the_address_differs_and_when_asked_for(
    world: World,
) -> None:
    """R208, R209, R210, R212."""
    bodies = [
        URL,
        URL,
        b'{"url":"https://HOOKS.example.com:443/in"}',
        b'{"url":"https://hooks.example.com/other"}',
        URL,
        ROTATE,
    ]

    secrets = [(await world.client.set_webhook(body)).secret for body in bodies]

    given = [secret.reveal() for secret in secrets if secret]
    assert [bool(secret) for secret in secrets] == [True, False, False, True, True, True]
    assert len(set(given)) == 4
    assert all(len(secret) == 38 and secret.startswith("whsec_") for secret in given)


@pytest.mark.rule("R211")
@pytest.mark.parametrize("rotate", [b'"true"', b"1", b"false"])
async def test_only_the_literal_true_rotates(world: World, rotate: bytes) -> None:
    """R211."""
    await world.client.set_webhook(URL)

    change = await world.client.set_webhook(ROTATE.replace(b"true", rotate))

    assert change.secret is None


@pytest.mark.rule("R209")
async def test_a_secret_whose_answer_was_lost_is_gone_and_a_rotation_brings_another(world: World) -> None:
    """R209; secret-lost: never repeated by the client."""
    await world.fault("PUT /webhook", "drop_after_commit")

    with pytest.raises(errors.NoAnswer) as lost:
        await world.client.set_webhook(URL)
    again = await world.client.set_webhook(URL)
    rotated = await world.client.set_webhook(ROTATE)

    assert (lost.value.certainty, lost.value.attempts) == (Certainty.AMBIGUOUS, 1)
    assert again.secret is None
    assert rotated.secret is not None


@pytest.mark.rule("R219", "R220", "R255")
async def test_every_put_moves_the_time_and_the_registration_is_always_active(world: World) -> None:
    """R219, R220, R255."""
    await world.act("clock", {"mode": "frozen"})
    none = await world.client.webhook()
    await world.client.set_webhook(URL)
    first = await world.client.webhook()
    await world.act("clock", {"advance_seconds": 5})
    await world.client.set_webhook(URL)
    second = await world.client.webhook()

    assert none is None
    assert first is not None
    assert second is not None
    assert (second.updated_at - first.updated_at).total_seconds() == 5
    assert first.active
    assert second.active


@pytest.mark.rule("R216", "R217")
@pytest.mark.parametrize(
    "url",
    ["http://hooks.example.com/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/",
     "https://a.localhost/", "https://a.local/", "https://a.internal/", "https://h.example.com/" + "a" * 2000],
)  # fmt: skip
async def test_an_address_that_is_not_public_is_refused(world: World, url: str) -> None:
    """R216, R217."""
    with pytest.raises(errors.BadRequest) as refused:
        await world.client.set_webhook(codec.encode({"url": url}))

    assert refused.value.certainty is Certainty.DEFINITE
    assert await world.client.webhook() is None


@pytest.mark.rule("R234")
async def test_an_event_is_delivered_again_under_its_own_id(world: World) -> None:
    """R234."""
    card_id = await world.funded_card()
    await world.client.freeze(card_id, b'{"frozen":true}')
    (event,) = [event async for event in world.client.events()]

    queued = await world.client.redeliver(event.id)
    with pytest.raises(errors.NotFound):
        await world.client.redeliver("8bb73fed-e2a0-4e5b-ae83-4e97c0727f82")

    assert (queued.event_id, queued.type, queued.queued) == (event.id, "card.status_changed", True)
    assert [event.id async for event in world.client.events()] == [event.id]


# Deposits


@pytest.mark.rule("R048", "R249", "R250", "R251", "R252", "R253")
async def test_a_quote_and_its_record_tell_the_same_in_other_words(world: World) -> None:
    """R048, R249, R250, R251, R252, R253: the markup counts on this route, and for the next quote only."""
    await world.act("account", {"deposits_enabled": True})
    card_id = await world.funded_card()
    balance_usd = (await world.client.me()).float.balance_usd
    body = {"card_id": card_id, "asset": "USDT", "chain": "SOLANA", "amount_usd": Decimal(100)}
    plain = await world.client.quote_deposit(body)
    await world.client.set_fees(b'{"markup_pct":0.1}')

    quote = await world.client.quote_deposit(codec.encode(body))
    records = {record.id: record for record in await world.client.deposits()}

    record = records[quote.deposit_id]
    assert (record.status, record.amount_expected) == ("pending", quote.send_amount)
    assert record.credit_usd == quote.card_credit_usd
    assert plain.partner_fee_usd == 0
    assert quote.partner_fee_usd == 10
    assert records[plain.deposit_id].fee_usd == plain.fee_usd
    assert quote.fee_usd == (quote.svc_fee_usd or 0) + (quote.partner_fee_usd or 0)
    assert (await world.client.me()).float.balance_usd == balance_usd


@pytest.mark.rule("R252")
async def test_a_key_without_the_scopes_of_deposits_is_refused_in_words() -> None:
    """R252; N6."""
    async with simulated() as world:
        key = (await world.act("keys", {"scopes": ["users:read", "users:write", "cards:read"]}))["key"]
        clock = FrozenClock()
        client = PartnerClient(world.running.base_url, key, limiter=RateLimiter(clock), clock=clock)
        for call in (client.deposits(), client.quote_deposit({})):
            with pytest.raises(errors.Forbidden, match="deposits:"):
                await call
        await client.aclose()
