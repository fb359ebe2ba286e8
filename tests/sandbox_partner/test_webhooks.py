"""Webhook registration and deliveries: addresses, secrets, signatures, attempts on the clock."""

import asyncio
import hashlib
import hmac
from typing import Any

import pytest
from aiohttp import web

from sandbox.partner.background import signature
from sandbox.partner.server import Running
from tests.sandbox_partner.conftest import Api, Hand, Receiver

pytestmark = pytest.mark.by_turns(4)

HOOK = "https://hooks.example.com/partner?a=1"
MINUTE = 60


async def register(api: Api, url: str = HOOK, **more: Any) -> Any:
    return await api.call("PUT", "/webhook", {"url": url, **more})


async def an_event(api: Api, hand: Hand, name: str = "card-1") -> str:
    """A card that is frozen, which is one event; its id."""
    card = await api.order(name)
    await hand(f"cards/{card}", status="ACTIVE")
    await api.post(f"/cards/{card}/freeze", {"frozen": True})
    return str((await api.events())[-1]["id"])


async def deliver(hand: Hand) -> None:
    """Whatever is due now has been attempted when this returns."""
    await hand("clock", advance_seconds=0)


@pytest.mark.rule("R208", "R209", "R219", "R220", "R255")
async def test_there_is_no_webhook_before_the_first_put_and_its_secret_is_given_once(
    api: Api, hand: Hand
) -> None:
    """R208, R209, R219, R220, R255."""
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00.123Z")
    assert (await api.get("/webhook")).data == {"webhook": None}
    first = (await register(api)).data
    assert first["webhook"] == {"url": HOOK}
    await hand("clock", advance_seconds=5)
    again = (await register(api)).data
    assert (again["secret"], again["webhook"]) == (None, {"url": HOOK})
    stored = (await api.get("/webhook")).data["webhook"]
    assert stored == {"url": HOOK, "active": True, "updated_at": "2026-03-02T09:00:05.123Z"}
    assert first["secret"] not in str(await hand.state()) + (await hand.http.get("journal")).text
    assert (await api.call("DELETE", "/webhook")).refusal == (405, "BAD_REQUEST")


@pytest.mark.rule("R210", "R211")
async def test_a_secret_is_renewed_by_another_address_and_by_rotate_true_alone(api: Api) -> None:
    """R210, R211: and changing the address back makes a third one."""
    first = (await register(api)).data["secret"]
    for rotate in ("true", 1, None, False, [True]):
        assert (await register(api, rotate=rotate)).data["secret"] is None
    rotated = (await register(api, rotate=True)).data["secret"]
    moved = (await register(api, "https://other.example.com/")).data["secret"]
    back = (await register(api)).data["secret"]
    assert len({first, rotated, moved, back}) == 4


SAME = [
    ("https://Hooks.Example.COM/a", "https://hooks.example.com/a"),
    ("https://hooks.example.com:443/a", "https://hooks.example.com/a"),
    ("https://hooks.example.com", "https://hooks.example.com/"),
    ("https://hooks.example.com/a#part", "https://hooks.example.com/a"),
    ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ("https://hooks.example.com:8443/a", "https://hooks.example.com:8443/a"),
    ("HTTPS://hooks.example.com./a", "https://hooks.example.com/a"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "stored"), SAME)
@pytest.mark.rule("R212")
async def test_an_address_is_stored_in_its_normal_form_and_compared_in_it(
    api: Api, given: str, stored: str
) -> None:
    """R212, U64."""
    assert (await register(api, given)).data["webhook"]["url"] == stored
    assert (await register(api, stored)).data["secret"] is None


REFUSED = [
    "http://hooks.example.com/", "hooks.example.com", "https://", "https:///x", "ftp://hooks.example.com/", "", "/x",
    "https://127.0.0.1/", "https://10.1.2.3/", "https://8.8.8.8/", "https://[::1]/", "https://[2001:db8::1]:8443/",
    "https://localhost/", "https://LOCALHOST:8443/", "https://a.localhost/", "https://printer.local/",
    "https://db.internal/", "https://db.internal./", "https://localhost./", "https://2130706433/",
    "https://0x7f.1/", "https://127.1/",
    "https://１２７.0.0.1/", "https://127。0。0。1/", "https://intranet/", "https://user:pw@hooks.example.com/",
    "https://user@hooks.example.com/", "https://hooks.example.com:99999/", "https://hooks.example.com:x/",
    "https://hooks .example.com/", "https://hooks.example.com/a b", "https://hooks.example.com\\@evil.example/",
    "https://hooks.example.com/\n", "https://ho_oks.example.com/", "https://-a.example.com/", "https://a..example.com/",
    "https://hooks.example.com/" + "x" * 2000, "https://1.2.3.4.5/", "https://example.0x1/",
]  # fmt: skip


@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.rule("R217", "R218")
async def test_an_address_that_is_not_a_public_https_name_is_refused(api: Api, url: str) -> None:
    """R217, R218."""
    assert (await register(api, url)).refusal == (400, "BAD_REQUEST")
    assert (await api.get("/webhook")).data["webhook"] is None


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"url":1}', b'{"url":null}', b"{}", b'"https://a.example/"']
)
async def test_a_registration_that_is_not_an_object_with_a_url_is_refused(api: Api, body: bytes) -> None:
    assert (await api.call("PUT", "/webhook", raw=body)).refusal == (400, "BAD_REQUEST")


@pytest.mark.rule("R009", "R234")
async def test_scopes_are_per_endpoint_and_not_per_prefix(api: Api, hand: Hand) -> None:
    """R009, R234."""
    event = await an_event(api, hand)
    calls = {
        ("GET", "/webhook"): "users:read", ("PUT", "/webhook"): "users:write", ("GET", "/events"): "cards:read",
        ("GET", "/ledger"): "users:read", ("POST", f"/events/{event}/redeliver"): "users:write",
        ("GET", "/deposits"): "deposits:read", ("POST", "/deposits"): "deposits:write",
    }  # fmt: skip
    for scope in ("users:read", "users:write", "cards:read", "deposits:read", "deposits:write"):
        key = Api(api.http, (await hand("keys", scopes=[scope]))["key"])
        for (method, path), needed in calls.items():
            answer = await key.call(method, path, {"url": HOOK} if method == "PUT" else None)
            assert (answer.status == 403) == (scope != needed), (method, path, scope)


@pytest.mark.rule("R221", "R222")
def test_the_signature_is_the_documented_one() -> None:
    """R221, R222: the written test vector."""
    body = (
        b'{"id":"evt_test_1","type":"card.unloaded","created_at":"2026-01-02T03:04:05.678Z",'
        b'"data":{"card_id":"Ab1","x":1.10}}'
    )
    expected = "a1e99aba751bfe02e1161eed818e3e22023cb2041d2ac4def3f20f08b28c218e"
    assert signature("whsec_" + "A" * 32, "1767323045", body) == expected


@pytest.mark.rule("R221", "R222", "R227", "R235")
async def test_a_delivery_is_signed_and_carries_what_the_log_shows(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R221, R222, R227, R235: invariant 8, byte for byte."""
    secret = (await register(api)).data["secret"]
    event = await an_event(api, hand)
    await deliver(hand)

    [(method, path, headers, body)] = receiver.got
    assert (method, path) == ("POST", "/partner?a=1")
    signed = f"{headers['X-SVC-Timestamp']}.".encode() + body
    assert headers["X-SVC-Signature"] == hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-SVC-Timestamp"] == "1772442000"  # 2026-03-02T09:00:00Z
    assert (headers["X-SVC-Event"], headers["X-SVC-Delivery"]) == ("card.status_changed", event)
    assert headers["Content-Type"] == "application/json"
    [record] = await api.events()
    envelope = receiver.bodies[0]
    assert list(envelope) == ["id", "type", "created_at", "data"]
    assert (envelope["id"], envelope["data"], envelope["created_at"]) == (
        event, record["payload"], record["created_at"],
    )  # fmt: skip
    raw = (await api.http.get("/events", headers={"X-API-Key": api.key})).content
    assert body.partition(b'"data":')[2][:-1] in raw
    assert (record["delivered"], record["attempts"]) == (True, 1)
    assert record["delivered_at"] == "2026-03-02T09:00:00.000Z"


@pytest.mark.rule("R227", "R228")
async def test_eight_attempts_are_made_with_doubling_waits_and_then_no_more(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R227, R228, U61: 0, 1, 3, 7, 15, 31, 63 and 127 minutes; same id and body, new time and signature."""
    await register(api)
    receiver.status = 500
    event = await an_event(api, hand)
    await hand("clock", advance_seconds=24 * 3600)

    state = await hand.state()
    at = [(int(headers["X-SVC-Timestamp"]) - 1772442000) // MINUTE for _, _, headers, _ in receiver.got]
    assert at == [0, 1, 3, 7, 15, 31, 63, 127]
    assert len({body for *_, body in receiver.got}) == 1
    assert len({headers["X-SVC-Signature"] for _, _, headers, _ in receiver.got}) == 8
    assert [attempt["status"] for attempt in state["deliveries"]] == [500] * 8
    [record] = state["events"]
    assert (record["delivered"], record["attempts"], record["next_attempt_at"]) == (False, 8, None)

    receiver.status = 204
    queued = (await api.post(f"/events/{event}/redeliver")).data
    assert queued == {"event_id": event, "type": "card.status_changed", "queued": True}
    [record] = await api.events()
    assert (record["attempts"], record["delivered"], record["delivered_at"]) == (0, False, None)
    await deliver(hand)
    assert receiver.bodies[-1]["id"] == event
    assert [(one["attempts"], one["delivered"]) for one in await api.events()] == [(1, True)]


@pytest.mark.rule("R231", "R234")
async def test_a_delivered_event_can_be_sent_again_under_its_own_id(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R231, R234, U62."""
    await register(api)
    event = await an_event(api, hand)
    await deliver(hand)
    assert (await api.post(f"/events/{event}/redeliver")).status == 200
    await deliver(hand)
    assert [body["id"] for body in receiver.bodies] == [event, event]
    other = Api(api.http, (await hand("keys", account=(await hand("accounts"))["account"]))["key"])
    for client, unknown in ((other, event), (api, "nobody")):
        assert (await client.post(f"/events/{unknown}/redeliver")).refusal == (404, "NOT_FOUND")


@pytest.mark.rule("R214", "R215", "R236")
async def test_events_wait_without_an_endpoint_and_the_first_registration_sends_them_oldest_first(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R214, R215, R236, U66: old created_at, fresh timestamps."""
    events = [await an_event(api, hand, f"card-{number}") for number in range(3)]
    await hand("clock", advance_seconds=3600)
    assert [record["attempts"] for record in await api.events()] == [0, 0, 0]
    await register(api)
    await deliver(hand)
    assert [body["id"] for body in receiver.bodies] == events
    assert {headers["X-SVC-Timestamp"] for _, _, headers, _ in receiver.got} == {str(1772442000 + 3600)}
    assert receiver.bodies[0]["created_at"] == "2026-03-02T09:00:00.000Z"


@pytest.mark.rule("R213")
async def test_rotation_signs_the_backlog_with_the_new_secret(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R213, U65."""
    await register(api)
    receiver.status = 503
    await an_event(api, hand)
    await deliver(hand)
    secret = (await register(api, rotate=True)).data["secret"]
    receiver.status = 200
    await hand("clock", advance_seconds=MINUTE)
    _, _, headers, body = receiver.got[-1]
    assert headers["X-SVC-Signature"] == signature(secret, headers["X-SVC-Timestamp"], body)


def elsewhere(status: int, location: str) -> web.Response:
    return web.Response(status=status, headers={"Location": location})


@pytest.mark.parametrize(
    ("status", "method", "size"),
    [(301, "GET", 0), (302, "GET", 0), (303, "GET", 0), (307, "POST", 1), (308, "POST", 1)],
)
@pytest.mark.rule("R230")
async def test_redirects_are_followed_and_the_last_hop_counts(
    api: Api, hand: Hand, receiver: Receiver, status: int, method: str, size: int
) -> None:
    """R230, U63: after 301 to 303 a GET with nothing in it counts as delivered."""
    await register(api)
    receiver.answers = [elsewhere(status, "/moved")]
    await an_event(api, hand)
    await deliver(hand)
    last = receiver.got[-1]
    assert (last[0], last[1], bool(last[3])) == (method, "/moved", bool(size))
    assert last[2]["X-SVC-Signature"] == receiver.got[0][2]["X-SVC-Signature"]
    assert (await api.events())[0]["delivered"] is True


@pytest.mark.parametrize("location", ["http://hooks.example.com/", "https://elsewhere.example.com/", "/loop"])
async def test_a_redirect_that_leaves_https_or_the_map_or_goes_in_circles_fails(
    api: Api, hand: Hand, receiver: Receiver, location: str
) -> None:
    """U63, U71."""
    await register(api)
    receiver.answers = [elsewhere(307, location) for _ in range(6)]
    await an_event(api, hand)
    await deliver(hand)
    assert (await api.events())[0]["delivered"] is False
    assert len(receiver.got) == (6 if location == "/loop" else 1)
    assert (await hand.state())["deliveries"][0]["problem"]


@pytest.mark.rule("R228", "R229")
async def test_an_attempt_is_given_up_after_eight_seconds_in_all(
    api: Api, hand: Hand, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R228, R229: a body that drips in does not keep the attempt alive. (The eight seconds are made short.)"""
    monkeypatch.setattr("sandbox.partner.background.deliveries.DEADLINE_SECONDS", 0.3)

    async def drip(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        try:
            for _ in range(100):
                await response.write(b".")
                await asyncio.sleep(0.05)
        except ConnectionError:  # what the test expects: the sender hangs up
            pass
        return response

    server = web.ServerRunner(web.Server(drip))
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0)
    await site.start()
    await hand("deliveries", map={"hooks.example.com": f"http://127.0.0.1:{server.addresses[0][1]}"})
    await register(api)
    await an_event(api, hand)
    await deliver(hand)
    assert (await hand.state())["deliveries"][0]["problem"] == "no answer within 8 seconds"
    await server.cleanup()


async def test_no_delivery_leaves_this_machine(api: Api, hand: Hand) -> None:
    """U71: a host that is not in the map cannot be reached, and the map leads to loopback only."""
    await hand("clock", mode="frozen")
    await register(api, "https://example.com/")
    await an_event(api, hand)
    await deliver(hand)
    assert (await hand.state())["deliveries"][0]["problem"] == "example.com cannot be reached"
    for address in (
        "http://192.0.2.1:80",
        "https://127.0.0.1:80",
        "http://127.0.0.1",
        "http://127.0.0.1:80/x",
        "x",
    ):
        assert "map" in await hand.refused("deliveries", map={"example.com": address})


@pytest.mark.rule("R231")
async def test_delivery_modes(api: Api, hand: Hand, receiver: Receiver) -> None:
    """R231: duplicates, reordering and loss, as a real network has them."""
    await register(api)
    await hand("deliveries", mode="pause")
    first, second = await an_event(api, hand, "a"), await an_event(api, hand, "b")
    await hand("clock", advance_seconds=600)
    assert receiver.got == []
    await hand("deliveries", mode="reorder")
    await deliver(hand)
    assert [body["id"] for body in receiver.bodies] == [second, first]
    assert receiver.got[0][2]["X-SVC-Timestamp"] == str(1772442000 + 600)

    await hand("deliveries", mode="duplicate")
    third = await an_event(api, hand, "c")
    await deliver(hand)
    assert [body["id"] for body in receiver.bodies][2:] == [third, third]

    await hand("deliveries", mode="drop")
    await an_event(api, hand, "d")
    await deliver(hand)
    assert len(receiver.got) == 4
    assert [(one["attempts"], one["delivered"]) for one in await api.events()][-1] == (1, False)
    await hand("deliveries", mode="normal")
    await hand("clock", advance_seconds=MINUTE)
    assert (await api.events())[-1]["delivered"] is True


@pytest.mark.rule("R007")
async def test_a_suspended_account_gets_nothing_until_it_is_back(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R007, U67."""
    await register(api)
    card = await api.loaded(hand, "20")
    await hand("account", suspended=True)
    await hand.buy(card, "1")
    await hand("clock", advance_seconds=3600)
    assert receiver.got == []
    assert (await api.get("/me")).refusal == (401, "UNAUTHORIZED")
    await hand("account", suspended=False)
    await deliver(hand)
    assert [body["type"] for body in receiver.bodies] == ["card.authorized"]


async def test_real_time_delivers_by_itself(api: Api, hand: Hand, receiver: Receiver) -> None:
    await hand("clock", mode="realtime")
    await register(api)
    await an_event(api, hand)
    for _ in range(200):
        if (await api.events())[0]["delivered"]:
            break
        await asyncio.sleep(0.02)
    assert len(receiver.got) == 1


async def test_a_receiver_may_call_the_api_while_it_is_being_notified(
    api: Api, hand: Hand, receiver: Receiver, simulator: Running
) -> None:
    """A delivery inside a clock call must not hold the API up."""

    async def ask_back(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=(await api.get("/me")).status)

    server = web.ServerRunner(web.Server(ask_back))
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0)
    await site.start()
    await hand("deliveries", map={"hooks.example.com": f"http://127.0.0.1:{server.addresses[0][1]}"})
    await register(api)
    await an_event(api, hand)
    await deliver(hand)
    assert (await api.events())[0]["delivered"] is True
    await server.cleanup()


async def test_a_reset_in_the_middle_of_a_delivery_is_no_trouble(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    await register(api)
    await an_event(api, hand)
    receiver.status = 500
    await asyncio.gather(hand("clock", advance_seconds=7200), hand("reset"))
    assert (await hand.state())["deliveries"] == []


async def in_webhook_mode(api: Api, hand: Hand) -> str:
    card = await api.loaded(hand, "100")
    await register(api)
    await api.call("PUT", f"/cards/{card}/3ds", {"method": "webhook"})
    await hand("account", threeds_webhook_enabled=True)
    return card


@pytest.mark.rule("R140", "R237")
async def test_a_code_that_arrives_lets_the_purchase_go_on(api: Api, hand: Hand, receiver: Receiver) -> None:
    """R140, R237, N9: the code is in the delivery and in GET /events, and nowhere else."""
    card = await in_webhook_mode(api, hand)
    await hand(f"cards/{card}/3ds", amount_usd="30", merchant="Web Shop")
    await deliver(hand)
    challenge, authorized = await api.events()
    code = challenge["payload"]["code"]
    assert (challenge["type"], len(code), authorized["type"]) == ("card.3ds_challenge", 6, "card.authorized")
    assert challenge["payload"]["transaction_id"] == authorized["payload"]["transaction_id"]
    assert receiver.bodies[0]["data"]["code"] == code
    for kept in ("state", "journal", "view"):
        assert code not in (await hand.http.get(kept)).text, kept


@pytest.mark.parametrize("down", ["endpoint", "program"])
@pytest.mark.rule("R140", "R141")
async def test_without_its_code_the_purchase_is_declined_after_five_minutes(
    api: Api, hand: Hand, receiver: Receiver, down: str
) -> None:
    """R140, R141, U51."""
    card = await in_webhook_mode(api, hand)
    receiver.status = 500
    if down == "program":
        await hand("account", threeds_webhook_enabled=False)
    await hand(f"cards/{card}/3ds", amount_usd="30", merchant="Web Shop")
    await hand("clock", advance_seconds=299)
    assert await api.history(card) == []
    await hand("clock", advance_seconds=1)
    [row] = await api.history(card)
    assert (row["status"], row["decline_reason"]["code"]) == ("declined", "security_check_failed")
    sent = [event["type"] for event in await api.events()]
    assert sent == (["card.3ds_challenge"] if down == "endpoint" else []) + ["card.declined"]


@pytest.mark.rule("R134")
async def test_in_sms_mode_no_challenge_reaches_the_partner(api: Api, hand: Hand) -> None:
    """R134."""
    card = await api.loaded(hand, "100")
    await hand(f"cards/{card}/3ds", amount_usd="30", merchant="Web Shop")
    assert [event["type"] for event in await api.events()] == ["card.authorized"]


@pytest.mark.rule("R138", "R185", "R248")
async def test_only_the_documented_calls_tell_anybody(api: Api, hand: Hand) -> None:
    """R138, R185, R248: nothing is said of orders, top-ups, limits, phones, modes, blocks, fees and closes."""
    await register(api)
    card = await api.loaded(hand, "50")
    await api.call("PUT", f"/cards/{card}/limits", {"daily_limit": 5})
    await api.call("PUT", f"/cards/{card}/phone", {"phone_country_code": 49, "phone": "15123456789"})
    await api.call("PUT", f"/cards/{card}/3ds", {"method": "webhook"})
    await hand(f"cards/{card}", status="BLOCKED")
    await hand("clock", advance_seconds=40 * 86400)
    await api.post(f"/cards/{card}/close")
    assert await api.events() == []
