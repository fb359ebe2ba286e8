"""The control API: it names what it refuses, tells the truth, and forgets on reset."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.partner import invariants
from sandbox.partner.accounts import account, first_account
from sandbox.partner.server import Running, answering, build_world, for_loopback, serve, standing_key
from tests.sandbox_partner.conftest import ORDER, Api, Hand, Receiver

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("account", {"bogus": 1}, "bogus"), ("account", {"unload_replay": "maybe"}, "unload_replay"),
    ("account", {"load_pct": "1.5"}, "load_pct"), ("account", {"monthly_fee_usd": "NaN"}, "monthly_fee_usd"),
    ("account", {"networks": ["SOLANA"]}, "networks"), ("account", {"account": "nobody"}, "account"),
    ("account", {"automatic_funding_since": "2026-01-01T00:00:00"}, "automatic_funding_since"),
    ("float", {}, "amount_usd"), ("float", {"amount_usd": "Infinity"}, "amount_usd"),
    ("float", {"amount_usd": "1", "note": "x"}, "note"), ("clock", {"mode": "fast"}, "mode"),
    ("clock", {"set": "yesterday"}, "set"), ("clock", {"set": "9999-12-31T23:59:59Z"}, "set"),
    ("clock", {"advance_seconds": -1}, "advance_seconds"),
    ("keys", {"scopes": ["cards:admin"]}, "scopes"), ("keys", {"rate_limit_per_minute": 0}, "rate_limit"),
    ("reset", {"scenario": "nothing"}, "scenario"), ("wallets", {"address": "0x1", "owner": "me"}, "owner"),
    ("faults", {"operation": "POST /nothing", "effect": "reset"}, "operation"),
    ("faults", {"operation": "GET /me", "effect": "explode"}, "effect"),
    ("faults", {"operation": "GET /me", "effect": "drop_midway"}, "effect"),
    ("faults", {"operation": "GET /me", "effect": "processor", "processor": "5xx"}, "processor"),
    ("faults", {"operation": "GET /me", "effect": "status"}, "status"),
    ("faults", {"operation": "GET /me", "effect": "reset", "nth": 0}, "nth"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "named"), REFUSED)
async def test_a_control_call_names_the_field_it_refuses(
    hand: Hand, path: str, body: dict[str, Any], named: str
) -> None:
    before = await hand.state()
    assert named in await hand.refused(path, **body)
    after = await hand.state()
    assert {**after, "clock": ""} == {**before, "clock": ""}


async def test_a_setting_that_is_not_named_keeps_its_value(hand: Hand) -> None:
    await hand("account", cards_limit=5, unload_replay="conflict")
    state = await hand("account", float_limit_usd="70.5")
    assert (state["cards_limit"], state["unload_replay"], state["float_limit_usd"]) == (5, "conflict", "70.5")
    assert (await hand("account", cards_limit=None))["cards_limit"] is None


async def test_a_reset_forgets_everything_but_the_keys(api: Api, hand: Hand) -> None:
    second = (await hand("keys", scopes=["users:read"]))["key"]
    await hand("account", load_pct="0.5", suspended=False)
    await hand("float", amount_usd="10")
    await hand("wallets", address="0x1", owner="operator")
    await hand.fault("reset")
    first_card = await api.order()

    await hand("reset")

    state = await hand.state()
    assert (state["float"]["balance_usd"], state["ledger_sum"]) == ("0", "0")
    assert state["account"]["load_pct"] == "0.01"
    for emptied in ("cards", "funding", "idempotency", "events", "wallets", "faults", "ledger"):
        assert state[emptied] == []
    assert (await hand.http.get("journal")).json() == {"requests": []}
    assert (await Api(api.http, second).get("/me")).status == 200
    assert await api.order() == first_card  # the same seed and calls give the same ids


async def test_the_journal_has_every_request_and_no_key(api: Api, hand: Hand) -> None:
    await hand.fault("drop_after_commit", "POST /cards")
    with pytest.raises(httpx.TransportError):
        await api.order()
    await api.get("/nothing")

    response = await hand.http.get("journal")

    order, nothing = response.json()["requests"]
    assert (order["method"], order["path"]) == ("POST", "/api/partner/v1/cards")
    assert (order["idempotency_key"], order["body"], order["status"], order["lost"]) == (
        "order-1",
        ORDER,
        201,
        True,
    )
    assert (nothing["status"], nothing["response"]["code"]) == (404, "NOT_FOUND")
    assert api.key not in response.text


async def test_state_holds_no_api_key(api: Api, hand: Hand) -> None:
    assert api.key not in str(await hand.state())


async def test_faults_strike_the_nth_call_of_a_card_and_as_often_as_said(api: Api, hand: Hand) -> None:
    await hand("float", amount_usd="100")
    struck, spared = await api.order("a"), await api.order("b")
    await hand.fault("status", status=500, nth=2, times=2, card_id=struck)

    statuses = [(await api.top_up(struck, "1", idem=f"t{n}")).status for n in range(5)]

    assert statuses == [200, 500, 500, 200, 200]
    assert (await api.top_up(spared, "1", idem="s")).status == 200
    assert (await hand.http.delete("faults")).status_code == 200
    assert (await hand.state())["faults"] == []


async def test_chance_repeats_for_a_seed(api: Api, hand: Hand) -> None:
    async def run() -> list[int]:
        await hand("reset", seed="dice")
        await hand.fault("status", "GET /fees", status=500, times=100, probability=0.5)
        return [(await api.get("/fees")).status for _ in range(20)]

    first = await run()
    assert set(first) == {200, 500}
    assert await run() == first


async def test_a_hang_ends_without_an_answer_and_without_work(api: Api, hand: Hand) -> None:
    await hand("float", amount_usd="100")
    card = await api.order()
    await hand.fault("hang", seconds=0.2)
    with pytest.raises(httpx.TransportError):
        await api.top_up(card)
    assert (await hand.state())["idempotency"][-1]["kind"] == "create"


async def test_control_is_for_loopback_peers_only(simulator: Running) -> None:
    from aiohttp.test_utils import make_mocked_request

    async def inside(request: Any) -> Any:
        raise AssertionError("let in")

    request = make_mocked_request("GET", "/_control/state", transport=_Peer())
    assert (await for_loopback(inside)(request)).status == 403


async def test_a_name_that_somebody_made_lead_here_is_refused(hand: Hand, simulator: Running) -> None:
    """DNS rebinding: the page and what it calls have one name, and the address is this machine's."""
    for host in ("evil.example", "evil.example:8401", "127.0.0.1.evil.example"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        response = await hand.http.post("float", json={"amount_usd": "1"}, headers=headers)
        assert response.status_code == 403, host


async def test_a_page_of_another_site_cannot_use_the_control_calls(hand: Hand, simulator: Running) -> None:
    for origin, status in (("https://example.com", 403), ("null", 403), (simulator.url, 200)):
        response = await hand.http.post("float", json={"amount_usd": "1"}, headers={"Origin": origin})
        assert response.status_code == status


class _Peer:
    """A transport that says the peer is another machine."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("192.0.2.7", 1234) if name == "peername" else default


async def test_the_clock_runs_what_fell_due_before_it_answers(api: Api, hand: Hand) -> None:
    await hand("clock", mode="frozen", set="2026-05-31T00:00:00Z")
    card = await api.order()
    answer = await hand("clock", advance_seconds=86400)
    assert (answer["clock"], answer["mode"]) == ("2026-06-01T00:00:00.000Z", "frozen")
    references = [row["reference"] for row in (await hand.state())["ledger"]]
    assert f"card-fee:{card}:2026-06" in references


async def test_real_time_goes_on_from_where_the_clock_was_set(hand: Hand) -> None:
    await hand("clock", mode="realtime", set="2030-01-01T00:00:00Z")
    await asyncio.sleep(0.05)
    clock = (await hand.state())["clock"]
    assert "2030-01-01T00:00:00.040Z" < clock < "2030-01-01T00:01:00Z"


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("UPDATE ledger SET amount_usd = '-26' WHERE kind = 'card_topup'", "1:"),
        ("UPDATE accounts SET funded_usd = '101', spent_usd = '26'", "1:"),
        ("UPDATE keyed SET state = 'refunded' WHERE kind = 'topup'", "3:"),
        ("UPDATE cards SET balance_usd = '24.99'", "4:"),
        ("UPDATE keyed SET state = 'unresolved' WHERE kind = 'topup'", "4:"),
        ("UPDATE accounts SET cards_ordered = 2", "5:"),
        ("INSERT INTO ledger (account, amount_usd, kind, reference, created_at, keyed)"
         " SELECT account, amount_usd, kind, reference, created_at, keyed FROM ledger WHERE kind = 'card_topup'", "6:"),
        ("UPDATE cards SET status = 'DELETED'", "7:"),
        ("INSERT INTO events (id, account, type, payload, created_at, delivered, attempts)"
         " SELECT 'e', id, 'card.closed', '{}', '', 0, 0 FROM accounts", "9:"),
        ("INSERT INTO ledger (account, amount_usd, kind, reference, created_at)"
         " SELECT account, '0', 'fee', 'card-fee:' || id || ':2019-01', '' FROM cards"
         " UNION ALL SELECT account, '0', 'fee', 'card-fee:' || id || ':2019-01', '' FROM cards", "11:"),
    ],
)  # fmt: skip
async def test_each_invariant_convicts_a_planted_break(simulator: Running, sql: str, number: str) -> None:
    async with httpx.AsyncClient(base_url=simulator.base_url, trust_env=False, verify=False) as http:
        api = Api(http, simulator.key)
        async with httpx.AsyncClient(base_url=simulator.control_url + "/", verify=False) as control:
            await Hand(control)("account", monthly_fee_usd="0")
            await Hand(control)("float", amount_usd="100")
        await api.top_up(await api.order(), "25")
    assert invariants.broken(simulator.world) == []

    simulator.world.store.run(sql)

    found = invariants.broken(simulator.world)
    assert any(sentence.startswith(number) for sentence in found), found


@pytest.mark.rule("R008")
async def test_a_second_account_sees_nothing_of_the_first(api: Api, hand: Hand) -> None:
    """R008."""
    card = await api.order()
    other = Api(api.http, (await hand("keys", account=(await hand("accounts"))["account"]))["key"])
    assert (await other.get("/cards")).data["count"] == 0
    assert (await other.get(f"/cards/{card}")).refusal == (404, "NOT_FOUND")
    assert (await other.top_up(card)).refusal == (404, "NOT_FOUND")
    assert (await other.post("/cards/balances", {"card_ids": [card]})).data["balances"][0][
        "error"
    ] == "NOT_FOUND"


async def test_the_demo_starts_with_people_and_a_float_that_add_up() -> None:
    running = await serve(port=0, demo=True)
    try:
        async with httpx.AsyncClient(base_url=running.base_url, verify=False) as http:
            api = Api(http, running.key)
            cards = (await api.get("/cards")).data["cards"]
            assert [card["status"] for card in cards].count("FROZEN") == 1
            assert len(cards) == 6
            balance_usd = (await api.float())["balance_usd"]
            assert 4000 < balance_usd < 4500
            assert sum(row["amount_usd"] for row in await api.ledger()) == balance_usd
            assert len((await api.get("/funding/addresses")).data["addresses"]) == 3
        assert invariants.broken(running.world) == []
    finally:
        await running.close()


KILLED = """
import asyncio, sys
from sandbox.partner.server import serve

async def main():
    running = await serve(port=0, state_path=sys.argv[1])
    print(running.base_url, running.control_url, running.key, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def start_process(state: Path) -> tuple[asyncio.subprocess.Process, list[str]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        KILLED,
        str(state),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert process.stdout is not None
    return process, (await process.stdout.readline()).decode().split()


@pytest.mark.rule("R102")
async def test_a_kill_between_the_two_commits_leaves_a_debit_that_support_can_settle(tmp_path: Path) -> None:
    """R102, U30: kill -9 while the processor is asked; the same key is in flight, then settled by hand."""
    state = tmp_path / "partner.db"
    process, (base_url, control_url, key) = await start_process(state)
    async with (
        httpx.AsyncClient(base_url=base_url, verify=False) as http,
        httpx.AsyncClient(base_url=control_url + "/", verify=False) as control,
    ):
        api, hand = Api(http, key), Hand(control)
        await hand("float", amount_usd="100")
        card = await api.order()
        await hand.fault("delay", seconds=30)
        lost = asyncio.create_task(api.top_up(card))
        for _ in range(500):
            if (await hand.state())["idempotency"][-1]["kind"] == "topup":
                break
        process.send_signal(signal.SIGKILL)
        await process.wait()
        with pytest.raises(httpx.TransportError):
            await lost

    process, (base_url, control_url, again) = await start_process(state)
    try:
        assert again == key
        async with (
            httpx.AsyncClient(base_url=base_url, verify=False) as http,
            httpx.AsyncClient(base_url=control_url + "/", verify=False) as control,
        ):
            api, hand = Api(http, key), Hand(control)
            assert (await api.top_up(card)).refusal == (409, "ALREADY_PROCESSED")
            assert (await hand.state())["float"]["balance_usd"] == "74"
            assert (await hand.state())["invariants"]["ok"]
            await hand("topups/topup-1/resolve", **{"as": "credited"})
            assert (await api.top_up(card)).data["credited_usd"] == 25
    finally:
        process.kill()
        await process.wait()


def test_phone_and_email_are_masked_in_the_state_file(tmp_path: Path) -> None:
    from sandbox.partner.codec import encode
    from sandbox.partner.http import Request

    path = tmp_path / "partner.db"
    world = build_world(str(path))
    key = standing_key(world)
    body = encode({**ORDER, "phone": "15198765432", "email": "canary@example.org"})
    request = Request("POST", "/api/partner/v1/cards", headers=[("X-API-Key", key)], body=body)
    assert asyncio.run(answering.handle(world, request)).status == 201
    assert account(world, first_account(world)).cards_ordered == 1
    world.store.close()

    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"ADA LOVELACE" in kept  # the scan would see what is there
    for secret in (b"15198765432", b"canary@example.org", key.encode()):
        assert secret not in kept


async def test_an_emptied_demo_stays_empty_over_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "partner.db")
    for cards in (6, 0):
        running = await serve(port=0, state_path=path, demo=True)
        async with httpx.AsyncClient(base_url=running.control_url + "/", verify=False) as control:
            hand = Hand(control)
            assert len((await hand.state())["cards"]) == cards
            await hand("reset")
        await running.close()


async def test_a_taken_port_is_an_error_that_leaves_nothing_open(simulator: Running) -> None:
    with pytest.raises(OSError, match="address already in use"):
        await serve(port=int(simulator.url.rsplit(":", 1)[1]))


async def test_an_account_is_found_again_by_its_name(hand: Hand) -> None:
    first = await hand("accounts", name="Partner of a test")
    assert await hand("accounts", name="Partner of a test") == first
    assert (await hand("accounts"))["account"] != first["account"]
    assert [one["name"] for one in (await hand.state())["accounts"]].count("Partner of a test") == 1


async def test_the_limit_of_every_key_of_an_account_changes_at_once(api: Api, hand: Hand) -> None:
    second = (await hand("accounts", name="Other"))["account"]
    other = Api(api.http, (await hand("keys", account=second))["key"])
    await hand("keys", every=True, rate_limit_per_minute=2)
    assert [(await api.get("/me")).status for _ in range(3)] == [200, 200, 429]
    assert [(await other.get("/me")).status for _ in range(3)] == [200, 200, 200]
    refused = await hand.http.post("keys", json={"every": True, "scopes": ["cards:read"]})
    assert (refused.status_code, "every" in refused.json()["error"]) == (400, True)


async def test_what_waits_for_an_endpoint_can_be_counted_as_delivered(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """And a purchase that waited for its code to be taken goes on, as it would after a delivery."""
    await hand("scenarios/threeds-endpoint-down")
    card = (await hand.state())["cards"][0]["id"]
    asked = await hand(f"cards/{card}/3ds", amount_usd="25")
    await hand("deliveries", mode="normal", map={"hooks.example.com": receiver.url}, backlog="delivered")
    await hand("clock", advance_seconds=120)
    events = [one for one in await api.events() if one["type"] != "card.authorized"]
    assert receiver.bodies == [] or {body["type"] for body in receiver.bodies} == {"card.authorized"}
    assert all(one["delivered"] for one in events)
    [row] = await api.history(card)
    assert (row["status"], row["transaction_id"]) == ("pending", asked["transaction_id"])


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"scopes": []}, "scopes"), ({"every": True}, "rate_limit_per_minute"),
        ({"every": True, "rate_limit_per_minute": 5, "scopes": ["cards:read"]}, "every"),
        ({"key": "KEY", "revoked": True, "scopes": ["cards:read"]}, "revoked"),
        ({"key": "KEY", "revoked": True, "rate_limit_per_minute": 5}, "revoked"), ({"key": "KEY"}, "revoked"),
        ({"key": "svc_live_00000000none", "revoked": True}, "key"),
    ],
)  # fmt: skip
async def test_a_change_of_keys_that_says_two_things_or_none_is_refused(
    api: Api, hand: Hand, body: dict[str, Any], named: str
) -> None:
    given = {name: api.key if value == "KEY" else value for name, value in body.items()}
    refused = await hand.http.post("keys", json=given)
    assert (refused.status_code, named in refused.json()["error"]) == (400, True), refused.text
    assert (await api.get("/me")).status == 200
