"""What the receiver takes, what it refuses and with which answer; nothing of what it refuses is stored."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot import web
from bot.partner.secret import Secret
from bot.partner.webhooks import MOST_BYTES
from bot.services.events import Webhooks
from storage.events import Ingest, webhook_secrets
from tests.events.receiving import SECRET, Bot, authorized, signature
from tests.support.world import CAROL


def raw(bot: Bot, event_id: str = "e1", **data: str) -> bytes:
    return json.dumps(bot.event("card.authorized", authorized(**data), event_id=event_id)).encode()


async def test_a_delivery_is_stored_once_however_often_it_comes(bot: Bot) -> None:
    body = raw(bot)

    assert await bot.post(body) == 200
    assert await bot.post(body, bot.signed(body, seconds=60)) == 200
    await bot.handle()
    assert await bot.post(body) == 200
    await bot.handle()

    assert await bot.stored() == ["e1"]
    assert (await bot.payload("e1"))["data"]["amount_usd"] == 12.34
    found = await bot.purchase("tx-1")
    assert found is not None
    assert found.legs == 1


async def test_a_hundred_at_once_are_all_durable_when_answered(bot: Bot) -> None:
    bodies = [raw(bot, f"e{n:03}") for n in range(100)]

    statuses = await asyncio.gather(*(bot.post(body) for body in [*bodies, *bodies]))

    assert set(statuses) == {200}
    assert await bot.stored() == [f"e{n:03}" for n in range(100)]


@pytest.mark.parametrize("seconds", [-300, 300])
async def test_three_hundred_seconds_either_way_are_taken(bot: Bot, seconds: int) -> None:
    body = raw(bot)

    assert await bot.post(body, bot.signed(body, seconds=seconds)) == 200


@pytest.mark.parametrize("seconds", [-301, 301, -86_400, 10**9])
async def test_a_stale_or_future_timestamp_is_refused(bot: Bot, seconds: int) -> None:
    body = raw(bot)

    assert await bot.post(body, bot.signed(body, seconds=seconds)) == 401
    assert await bot.stored() == []


async def test_the_age_of_the_event_is_no_matter(bot: Bot) -> None:
    old = bot.event("card.authorized", authorized(), minutes_ago=60 * 24 * 30)

    assert await bot.deliver(old) == 200


async def test_only_the_whole_secret_signs(bot: Bot) -> None:
    body = raw(bot)
    stamp = str(int(bot.world.clock.now().timestamp()))
    good = signature(SECRET, stamp, body)
    forged = {
        "without whsec_": signature(SECRET.removeprefix("whsec_"), stamp, body),
        "another secret": signature("whsec_" + "x" * 32, stamp, body),
        "another timestamp": signature(SECRET, str(int(stamp) + 1), body),
        "another body": signature(SECRET, stamp, body + b" "),
        "upper case": good.upper(),
        "prefixed": "v1=" + good,
        "cut": good[:-1],
        "empty": "",
    }

    for name, value in forged.items():
        headers = {"X-SVC-Timestamp": stamp, "X-SVC-Signature": value}
        assert await bot.post(body, headers) == 401, name
    assert await bot.post(body, {"X-SVC-Signature": good}) == 401
    assert await bot.post(body, {"X-SVC-Timestamp": stamp}) == 401
    assert await bot.post(body, {"X-SVC-Timestamp": f" {stamp}x", "X-SVC-Signature": good}) == 401
    assert await bot.stored() == []


async def test_the_body_names_the_event_whatever_the_unsigned_headers_say(bot: Bot) -> None:
    body = raw(bot)
    lies = {"X-SVC-Event": "float.credited", "X-SVC-Delivery": "other"}

    assert await bot.post(body, bot.signed(body, more=lies)) == 200
    assert await bot.stored() == ["e1"]


async def test_a_program_that_is_not_ours_or_has_no_secret_is_refused_alike(bot: Bot) -> None:
    body = raw(bot)

    for program in ("other", "MAIN", "main%20", "x" * 500):
        assert await bot.post(body, program=program) == 401
    assert await bot.stored() == []


async def test_more_than_64_kib_are_refused_with_and_without_a_length(bot: Bot) -> None:
    fits = raw(bot, padding="")
    fits = fits.replace(b'"padding": ""', b'"padding": "' + b"x" * (MOST_BYTES - len(fits)) + b'"')
    assert len(fits) == MOST_BYTES
    over = fits.replace(b"xx", b"xxx", 1)

    async def chunked(body: bytes) -> int:
        async def parts() -> AsyncIterator[bytes]:
            for start in range(0, len(body), 1000):
                yield body[start : start + 1000]

        async with bot.client.post("/webhooks/main", data=parts(), headers=bot.signed(body)) as answer:
            return answer.status

    assert await bot.post(over) == 413
    assert await chunked(over) == 413
    assert await chunked(fits) == 200
    assert await bot.stored() == ["e1"]


async def test_a_compressed_body_is_not_unpacked(bot: Bot) -> None:
    packed_as = {"Content-Encoding": "gzip"}
    bomb = gzip.compress(b"[" * 50_000_000)
    assert len(bomb) < MOST_BYTES

    assert await bot.post(bomb, bot.signed(bomb, more=packed_as)) == 400
    packed = gzip.compress(raw(bot))
    assert await bot.post(packed, bot.signed(packed, more=packed_as)) == 400
    assert await bot.stored() == []


DEEP = b'{"a":' * 40 + b"1" + b"}" * 40
ENVELOPE = b'{"id":"e1","type":"t","created_at":"2026-03-02T09:00:00Z","data":%b}'
MALFORMED = {
    "empty": b"",
    "no JSON": b"hello",
    "array": b"[]",
    "string": b'"x"',
    "null": b"null",
    "two values": ENVELOPE % b"{}" + b"{}",
    "no id": b'{"type":"t","created_at":"2026-03-02T09:00:00Z","data":{}}',
    "id is a number": b'{"id":1,"type":"t","created_at":"2026-03-02T09:00:00Z","data":{}}',
    "id is empty": b'{"id":"","type":"t","created_at":"2026-03-02T09:00:00Z","data":{}}',
    "no data": b'{"id":"e1","type":"t","created_at":"2026-03-02T09:00:00Z"}',
    "data is a list": ENVELOPE % b"[]",
    "a time without its zone": b'{"id":"e1","type":"t","created_at":"2026-03-02T09:00:00","data":{}}',
    "a name twice": b'{"id":"e1","id":"e2","type":"t","created_at":"2026-03-02T09:00:00Z","data":{}}',
    "a name twice inside": ENVELOPE % b'{"a":1,"a":2}',
    "a name twice, once escaped": ENVELOPE % b'{"a":1,"\\u0061":2}',
    "NaN": ENVELOPE % b'{"a":NaN}',
    "Infinity": ENVELOPE % b'{"a":Infinity}',
    "1e999": ENVELOPE % b'{"a":1e999}',
    "a lone surrogate": ENVELOPE % b'{"a":"\\ud800"}',
    "a lone surrogate as a name": ENVELOPE % b'{"\\udfff":1}',
    "no UTF-8": ENVELOPE % b'{"a":"\xff"}',
    "a byte order mark": b"\xef\xbb\xbf" + ENVELOPE % b"{}",
    "UTF-16": (ENVELOPE % b"{}").decode().encode("utf-16"),
    "NUL in a text": ENVELOPE % b'{"a":"\\u0000"}',
    "deeper than 32": ENVELOPE % DEEP,
    "so deep that a parser gives up": ENVELOPE % (b"[" * 30_000 + b"]" * 30_000),
    "4,300 digits": ENVELOPE % (b'{"a":' + b"9" * 4_301 + b"}"),
    "60,000 digits": ENVELOPE % (b'{"a":' + b"9" * 60_000 + b"}"),
    "an exponent of 30 digits": ENVELOPE % b'{"a":1e999999999999999999999999999999}',
    "a small exponent of 30 digits": ENVELOPE % b'{"a":0.7e-999999999999999999999999999999}',
    "60,000 places": ENVELOPE % (b'{"a":0.' + b"9" * 60_000 + b"}"),
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_event_is_refused_though_it_is_signed(bot: Bot, name: str) -> None:
    assert await bot.post(MALFORMED[name]) == 400
    assert await bot.stored() == []


async def test_nesting_to_the_limit_is_taken(bot: Bot) -> None:
    assert await bot.post(ENVELOPE % (b'{"a":' * 31 + b"1" + b"}" * 31)) == 200


async def test_an_unknown_type_is_stored_handled_and_answered_200(bot: Bot) -> None:
    assert await bot.deliver(bot.event("card.teleported", {"anything": [1, None]}, event_id="e1")) == 200

    await bot.handle()

    assert await bot.stored() == ["e1"]
    assert await bot.unhandled() == []


async def test_a_body_that_does_not_come_is_not_waited_for(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "READ_TIMEOUT_S", 0.2)
    url = bot.client._base_url
    assert url is not None
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(b"POST /webhooks/main HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")

    answer = await asyncio.wait_for(reader.read(), 5)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nConnection: close\r\n" in answer
    writer.close()


async def test_a_database_that_does_not_take_it_is_no_200(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(self: Ingest, batch: object) -> None:
        raise OSError("disk full")

    body = raw(bot)
    with monkeypatch.context() as patch:
        patch.setattr(type(bot.intake.ingest._writer), "write", full)
        assert await bot.post(body) == 500
    assert await bot.stored() == []

    assert await bot.post(body) == 200, "your card provider delivers again"


async def test_during_a_rotation_both_secrets_are_taken_and_then_only_the_new_one(bot: Bot) -> None:
    new = "whsec_" + "n" * 32
    await bot.post(raw(bot, "before"))
    await bot.keep_secret(new)
    bot.world.clock.advance(1)
    by_new, by_old = raw(bot, "new"), raw(bot, "old")

    assert await bot.post(by_new, bot.signed(by_new, secret=new)) == 200, "seen without a restart"
    assert await bot.post(by_old) == 200
    bot.world.clock.advance(660)
    late = raw(bot, "late")
    assert await bot.post(late) == 401
    assert await bot.post(late, bot.signed(late, secret=new)) == 200


async def test_refusals_become_one_alert_that_says_why_and_end_with_them(bot: Bot) -> None:
    body = raw(bot)
    for _ in range(4):
        await bot.post(body, bot.signed(body, secret="whsec_wrong"))
    await bot.webhooks.report()
    assert await bot.open_alerts() == []

    await bot.post(body, bot.signed(body, seconds=-4000))
    await bot.webhooks.report()
    await bot.webhooks.report()

    (alert,) = await bot.open_alerts()
    assert alert.kind == "deliveries_refused"
    assert "4 not signed with our secret, 1 a timestamp too far from our clock" in alert.text
    assert "2026-03-02 09:00:00 UTC" in alert.text
    bot.world.clock.advance(301)
    await bot.webhooks.report()
    assert await bot.open_alerts() == []


async def refused(bot: Bot, times: int) -> None:
    body = raw(bot)
    for _ in range(times):
        await bot.post(body, bot.signed(body, secret="whsec_wrong"))


async def raised(bot: Bot) -> str:
    """How often an alert of refused deliveries was raised, ever, and how often seen."""
    return await bot.rows("SELECT count(*), sum(count) FROM alert WHERE kind = 'deliveries_refused'")


async def test_two_processes_raise_one_alert_for_what_either_of_them_refuses(bot: Bot) -> None:
    other = Webhooks(replace(bot.world.core, owner="another process"), bot.intake)
    await refused(bot, 6)

    for _ in range(8):
        await bot.webhooks.report()
        await other.report()
        bot.world.clock.advance(30)

    assert await raised(bot) == "(1, 1)"
    assert len(await bot.open_alerts()) == 1


async def test_an_alert_of_refusals_ends_after_a_restart_as_well(bot: Bot) -> None:
    await refused(bot, 6)
    await bot.webhooks.report()
    restarted = Webhooks(replace(bot.world.core, owner="after the restart"), bot.intake)

    await restarted.report()
    assert len(await bot.open_alerts()) == 1, "it is still so"
    bot.world.clock.advance(301)
    await restarted.report()

    assert await bot.open_alerts() == []
    assert await raised(bot) == "(1, 1)"


async def test_an_alert_of_refusals_ends_after_a_clock_has_stepped_back(bot: Bot) -> None:
    bot.world.clock.advance(3600)
    await refused(bot, 6)
    await bot.webhooks.report()
    assert len(await bot.open_alerts()) == 1
    bot.world.clock.advance(-3600)

    bot.world.clock.advance(301)
    await bot.webhooks.report()

    assert await bot.open_alerts() == []


async def registered(bot: Bot) -> str:
    """Our own registration, carried out; returns the new secret."""
    url = "https://countersign.example.com/webhooks/main"
    await bot.world.approve(await bot.world.ask("webhook_register", {"url": url}, by=CAROL))
    await bot.world.run_due()
    async with bot.world.store.read() as tx:
        return (await webhook_secrets.accepted(tx, "main"))[0].reveal()


async def test_our_own_registration_raises_no_alarm_and_after_the_first_good_delivery_all_counts(
    bot: Bot,
) -> None:
    secret = await registered(bot)
    await refused(bot, 18)
    await bot.webhooks.report()
    assert await bot.open_alerts() == []

    bot.world.clock.advance(60)
    body = raw(bot, "genuine")
    assert await bot.post(body, bot.signed(body, secret=secret)) == 200
    await bot.webhooks.report()
    assert await bot.open_alerts() == []

    bot.world.clock.advance(2)
    await refused(bot, 6)
    await bot.webhooks.report()
    (alert,) = await bot.open_alerts()
    assert "6 not signed with our secret" in alert.text


async def test_what_is_refused_after_the_first_good_delivery_counts_though_others_follow(bot: Bot) -> None:
    secret = await registered(bot)
    for name, then in (("first", 6), ("second", 0)):
        bot.world.clock.advance(30)
        body = raw(bot, name)
        assert await bot.post(body, bot.signed(body, secret=secret)) == 200
        bot.world.clock.advance(2)
        await refused(bot, then)

    await bot.webhooks.report()

    (alert,) = await bot.open_alerts()
    assert "6 not signed with our secret" in alert.text


async def test_where_no_good_delivery_follows_our_registration_the_alarm_comes_after_all(bot: Bot) -> None:
    await registered(bot)
    for _ in range(10):
        await refused(bot, 6)
        await bot.webhooks.report()
        assert await bot.open_alerts() == []
        bot.world.clock.advance(60)
    bot.world.clock.advance(1)

    await bot.webhooks.report()

    assert len(await bot.open_alerts()) == 1


async def test_forgeries_read_the_database_twice_a_second_at_most(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = 0
    read = bot.webhooks._read

    async def counted(program: str) -> tuple[Secret, ...]:
        nonlocal readings
        readings += 1
        return await read(program)

    monkeypatch.setattr(bot.webhooks, "_read", counted)
    body = raw(bot)

    await asyncio.gather(*(bot.post(body, bot.signed(body, secret="whsec_wrong")) for _ in range(50)))

    assert readings == 1
