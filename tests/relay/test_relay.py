"""The relay: what other systems get, signed how, how often, and what happens when they do not take it."""

import asyncio
import base64
import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.errors import NotAllowed
from bot.domain.events import Destination, Retention, secret_text
from bot.services.events import note_destinations, relay, retention
from bot.services.events.relay import redeliver
from storage.vault import Keyring, Vault
from tests.events.receiving import authorized
from tests.relay.receivers import NAMES, Fleet
from tests.support.waiting import eventually
from tests.support.world import ALICE, BOB, CAROL, MASTER

CREDITED = {"funding_id": "f-1", "fee_usd": 1.5, "credited_usd": 98.5}


def verified(fleet: Fleet, headers: dict[str, str], body: bytes, name: str, *, secret: str = "") -> Any:
    """As Standard Webhooks 1.0 says it, with the standard library alone. Raises when nothing fits."""
    secret = secret or secret_text(fleet.world.store.vault.derived("relay_secret", name)[0])
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert abs(int(headers["webhook-timestamp"]) - fleet.world.clock.now().timestamp()) < 300
    given = [one.split(",", 1) for one in headers["webhook-signature"].split(" ")]
    assert any(version == "v1" and hmac.compare_digest(found, wanted) for version, found in given)
    return json.loads(body)


async def states(fleet: Fleet) -> dict[tuple[str, str], str]:
    async with fleet.world.store.read() as tx:
        rows = (await tx.run(text("SELECT destination, event_id, state FROM relay_delivery"))).all()
    return {(row.destination, row.event_id): row.state for row in rows}


async def alert_texts(fleet: Fleet, kind: str) -> list[Any]:
    return [a for a in await fleet.bot.open_alerts() if a.kind == kind]


async def test_each_destination_gets_the_events_it_names_signed_with_a_secret_of_its_own(
    fleet: Fleet,
) -> None:
    bought = await fleet.happens("card.authorized", authorized())
    credited = await fleet.happens("float.credited", CREDITED)
    while await fleet.deliver("ledger") or await fleet.deliver("crm"):
        pass

    assert fleet.receivers["ledger"].ids == [bought]
    assert sorted(fleet.receivers["crm"].ids) == sorted([bought, credited])
    headers, body = fleet.receivers["ledger"].got[0]
    shown = verified(fleet, headers, body, "ledger")
    assert shown["type"] == "card.authorized"
    assert shown["data"]["amount_usd"] == 12.34
    with pytest.raises(AssertionError):
        verified(fleet, headers, body, "crm")
    with pytest.raises(AssertionError):
        verified(fleet, headers, body + b" ", "ledger")
    assert not [name for name in headers if name.startswith("x-svc")]
    assert set((await states(fleet)).values()) == {"sent"}


async def test_an_event_is_put_into_the_outbox_once_however_it_comes(fleet: Fleet) -> None:
    event = fleet.bot.event("card.authorized", authorized())
    for _ in range(3):
        await fleet.bot.deliver(event)
        await fleet.handle()

    await fleet.deliver()
    await fleet.deliver()

    assert fleet.receivers["ledger"].ids == [event["id"]]


async def test_a_failed_message_is_sent_again_with_the_same_id_and_bytes(fleet: Fleet) -> None:
    ledger = fleet.receivers["ledger"]
    ledger.status = 500
    event_id = await fleet.happens("card.authorized", authorized())
    await fleet.deliver()
    assert not await fleet.deliver(), "tried again without a pause"
    await fleet.world.advance(6)
    await fleet.deliver()
    ledger.status = 204
    await fleet.world.advance(40)
    await fleet.deliver()

    assert ledger.ids == [event_id] * 3
    assert len({body for _, body in ledger.got}) == 1
    assert len({headers["webhook-timestamp"] for headers, _ in ledger.got}) == 3
    for headers, body in ledger.got[-1:]:
        verified(fleet, headers, body, "ledger")
    async with fleet.world.store.read() as tx:
        rows = (await tx.run(text("SELECT sealed_body FROM relay_delivery WHERE state = 'sent'"))).all()
    assert [row.sealed_body for row in rows] == [None], "kept longer than it is needed"


async def test_after_a_day_it_is_given_up_with_one_alert_and_one_click_sends_all_again(fleet: Fleet) -> None:
    ledger = fleet.receivers["ledger"]
    ledger.status = 503
    ids = {await fleet.happens("card.authorized", authorized(f"tx-{n}")) for n in range(3)}
    began = fleet.world.clock.now()
    for _ in range(60):
        await fleet.world.advance(1800)
        await fleet.deliver()

    (alert,) = await alert_texts(fleet, "relay_dead")
    assert "3 given up" in alert.title
    assert "answered 503" in alert.text
    assert (alert.raised_at - began).total_seconds() > 20 * 3600
    tried = len(ledger.got)
    assert tried >= 3 * 8
    ledger.status = 200

    assert await redeliver(fleet.world.core, alert.id, BOB) == 3
    await fleet.deliver()

    assert set(ledger.ids[tried:]) == ids
    assert len({body for _, body in ledger.got}) == 3
    assert await alert_texts(fleet, "relay_dead") == []


async def given_up(fleet: Fleet, count: int) -> str:
    """So many messages that `ledger` would not take for a day; the id of the alert."""
    fleet.receivers["ledger"].status = 503
    for n in range(count):
        await fleet.happens("card.authorized", authorized(f"tx-{n}"))
    for _ in range(60):
        await fleet.world.advance(1800)
        await fleet.deliver()
    (alert,) = await alert_texts(fleet, "relay_dead")
    return str(alert.id)


async def test_only_approvers_and_admins_have_events_sent_again_and_others_are_on_record(
    fleet: Fleet,
) -> None:
    alert_id = await given_up(fleet, 1)
    with pytest.raises(NotAllowed, match="Nothing was sent"):
        await redeliver(fleet.world.core, alert_id, ALICE)

    assert "dead" in (await states(fleet)).values()
    audited = await fleet.bot.rows(
        "SELECT actor, outcome, reason_code FROM audit WHERE action LIKE 'relay.red%'"
    )
    assert audited == f"('{ALICE}', 'refused', 'not_an_approver')"
    assert await redeliver(fleet.world.core, alert_id, CAROL) == 1


async def test_what_nobody_had_sent_again_is_dropped_in_time_and_said_to_be(fleet: Fleet) -> None:
    await given_up(fleet, 3)
    keeps = Retention(relay=timedelta(days=30))
    await retention.prune(fleet.world.core, keeps)
    assert list((await states(fleet)).values()).count("dead") == 3

    await fleet.world.advance(30 * 86_400)
    await retention.prune(fleet.world.core, keeps)

    assert "dead" not in (await states(fleet)).values()
    assert await alert_texts(fleet, "relay_dead") == []
    assert "3 messages were dropped" in await fleet.bot.rows("SELECT text FROM alert_note")
    assert "relay.dropped" in await fleet.bot.rows("SELECT action, body FROM audit")


async def test_one_event_that_does_not_open_is_set_aside_with_an_alert_and_the_others_go_on(
    fleet: Fleet,
) -> None:
    cursed = await fleet.happens("card.authorized", authorized("tx-1"))
    good = await fleet.happens("card.authorized", authorized("tx-2"))
    async with fleet.world.store.begin() as tx:
        spoilt = "UPDATE relay_delivery SET sealed_body = 'no seal' WHERE event_id = :event AND destination = 'ledger'"
        await tx.run(text(spoilt).bindparams(event=cursed))

    await fleet.deliver()

    assert fleet.receivers["ledger"].ids == [good]
    (alert,) = await alert_texts(fleet, "relay_unreadable")
    assert cursed in alert.text
    assert good not in alert.text
    assert not await fleet.deliver(), "it is not tried again and again"

    assert await redeliver(fleet.world.core, alert.id, BOB) == 1
    await fleet.deliver()
    assert len(await alert_texts(fleet, "relay_unreadable")) == 1, "it still does not open"


async def test_a_receiver_that_says_gone_is_not_asked_again(fleet: Fleet) -> None:
    fleet.receivers["ledger"].status = 410
    await fleet.happens("card.authorized", authorized())
    await fleet.deliver()

    assert set((await states(fleet)).values()) == {"dead", "owed"}  # crm's was not tried
    assert len(await alert_texts(fleet, "relay_dead")) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_a_failure_and_is_not_followed(fleet: Fleet, status: int) -> None:
    ledger, crm = fleet.receivers["ledger"], fleet.receivers["crm"]
    ledger.status, ledger.headers = status, {"Location": f"https://{NAMES[1]}:{crm.port}/stolen"}
    await fleet.happens("card.authorized", authorized())
    await fleet.deliver()

    assert len(ledger.got) == 1
    assert crm.got == []
    assert set((await states(fleet)).values()) == {"owed"}


async def test_a_long_answer_is_not_read(fleet: Fleet) -> None:
    fleet.receivers["ledger"].answer = b"x" * 50_000_000
    await fleet.happens("card.authorized", authorized())

    async with asyncio.timeout(3):
        await fleet.deliver()

    assert (await states(fleet))["ledger", "evt-0000"] == "sent"


async def test_a_slow_destination_holds_up_neither_the_other_nor_the_receiver(fleet: Fleet) -> None:
    ledger, crm = fleet.receivers["ledger"], fleet.receivers["crm"]
    ledger.gate.clear()
    running = asyncio.create_task(fleet.relay.run())
    try:
        async with asyncio.timeout(4):
            for n in range(5):
                await fleet.happens("card.authorized", authorized(f"tx-{n}"))
        await eventually(
            "crm has them all, ledger holds on to one", lambda: len(crm.got) == 5 and ledger.got, within_s=4
        )
    finally:
        running.cancel()
        ledger.gate.set()
        await asyncio.wait({running})


async def test_a_death_between_sending_and_marking_sends_again_under_the_same_id(fleet: Fleet) -> None:
    """CP17."""
    event_id = await fleet.happens("card.authorized", authorized())
    with fleet.world.dies_at("relay.sent"):
        await fleet.deliver()
    assert not await fleet.deliver(), "taken twice at once"
    await fleet.world.advance(relay.LEASE.total_seconds() + 1)
    await fleet.deliver()

    assert fleet.receivers["ledger"].ids == [event_id] * 2
    assert len({body for _, body in fleet.receivers["ledger"].got}) == 1
    assert (await states(fleet))["ledger", event_id] == "sent"


async def test_what_is_not_named_is_not_passed_on(fleet: Fleet) -> None:
    more: dict[str, Any] = {
        "email": "nora@example.com",
        "pan": "4111111111111111",
        "merchant": {"details_url": "https://x"},
        "fee_breakdown": {"fx_usd": 0.34, "note": "secret"},
    }
    await fleet.happens("card.authorized", authorized(**more))
    await fleet.happens("x.y", {"code": "123456", "anything": 1})
    await fleet.deliver()

    bodies = [
        json.loads(body)
        for _, body in sorted(fleet.receivers["ledger"].got, key=lambda one: one[0]["webhook-id"])
    ]
    assert bodies[0]["data"]["fee_breakdown"] == {"fx_usd": 0.34}
    assert not {"email", "pan", "merchant"} & set(bodies[0]["data"])
    assert bodies[1]["data"] == {}


async def test_a_challenge_is_never_relayed_whatever_the_file_says(fleet: Fleet) -> None:
    everything = Destination("ledger", fleet.destination("ledger").url, ("card.3ds_challenge",))
    fleet.world.rebuild(destinations=(everything,))
    data = {"card_id": "card-1", "code": "987654", "merchant": "ACME"}
    await fleet.happens("card.3ds_challenge", data)

    assert await states(fleet) == {}


async def test_while_the_master_key_is_rotated_both_secrets_verify(fleet: Fleet) -> None:
    store = fleet.world.store
    old = secret_text(store.vault.derived("relay_secret", "ledger")[0])
    newer = base64.b64encode(hashlib.sha256(b"another").digest()).decode()
    store.vault = Vault(Keyring.parse(f"{newer}\n{MASTER}")).bound_to(store.instance)
    await fleet.happens("card.authorized", authorized())
    await fleet.deliver()

    headers, body = fleet.receivers["ledger"].got[0]
    verified(fleet, headers, body, "ledger")
    verified(fleet, headers, body, "ledger", secret=old)


async def test_a_changed_list_of_destinations_is_audited_and_reported_once(fleet: Fleet) -> None:
    core = fleet.world.core
    await note_destinations(core)
    await note_destinations(core)
    await fleet.happens("card.authorized", authorized())
    await note_destinations(fleet.world.rebuild(destinations=core.destinations[:1]))

    async with fleet.world.store.read() as tx:
        shown = (
            await tx.run(text("SELECT text FROM alert WHERE kind = 'relay_destinations' ORDER BY raised_at"))
        ).all()
        kept = (await tx.run(text("SELECT 1 FROM audit WHERE action = 'relay.destinations'"))).all()
    said = [row.text for row in shown]
    assert len(said) == len(kept) == 2
    assert any("ledger is new and gets card.authorized, x.y at https://" in one for one in said)
    assert any("crm gets no events any more. 1 messages were dropped." in one for one in said)


async def test_nothing_of_the_relays_secret_is_in_the_database(fleet: Fleet) -> None:
    await fleet.happens("card.authorized", authorized())
    await fleet.deliver()
    on_disk = b"".join(
        p.read_bytes() for p in fleet.world.database.parent.glob(fleet.world.database.name + "*")
    )
    for key in fleet.world.store.vault.derived("relay_secret", "ledger"):
        assert key not in on_disk
        assert base64.b64encode(key) not in on_disk
