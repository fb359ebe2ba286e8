"""The journal as an HTTP archive, and its replay: the same simulator answers the same, another one is found out."""

import contextlib
import json
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox import command
from sandbox.partner import http
from sandbox.partner.calls import processor
from sandbox.partner.control import dispatch
from sandbox.partner.routes import topups
from sandbox.partner.scenarios import SCENARIOS, catalogue
from sandbox.partner.server import answering, build_world, standing_key
from sandbox.partner.state import World
from sandbox.replay import NotReplayable, replay
from tests.sandbox_partner.conftest import ORDER, Api, Hand


async def archive(hand: Hand, folder: Path) -> Path:
    path = folder / "journal.har"
    path.write_bytes((await hand.http.get("journal.har")).raise_for_status().content)
    return path


async def a_day(api: Api, hand: Hand) -> None:
    """Money, trouble, funding, purchases, time, another account: something of everything."""
    await hand("reset", seed="recorded", scenario="happy-day")
    listed = (await api.get("/cards?limit=30")).data["cards"]
    card = next(one["id"] for one in listed if one["status"] == "ACTIVE")
    await api.top_up(card, "20", idem="t-1")
    await hand.fault("drop_after_commit")
    with pytest.raises(httpx.TransportError):
        await api.top_up(card, "5", idem="t-2")
    await api.top_up(card, "5", idem="t-2")
    await hand.fault("processor", processor="5xx")
    await api.top_up(card, "7", idem="t-3")
    await hand("topups/t-3/resolve", **{"as": "refunded"})
    ordered = (await api.post("/cards", {**ORDER, "card_holder_name": "José"}, idem="o-1")).data["card"]["id"]
    await hand(f"cards/{ordered}", status="ACTIVE")
    bought = await hand("purchases", card_id=card, amount_usd="12.50", merchant="Corner Coffee")
    await hand(f"purchases/{bought['transaction_id']}/settle")
    await hand("clock", advance_seconds=90_000)
    await api.get(f"/cards/{card}/transactions?limit=5")
    await api.get("/ledger?limit=100")
    other = (await hand("accounts"))["account"]
    key = (await hand("keys", account=other))["key"]
    assert (await Api(api.http, key).get(f"/cards/{card}")).status == 404
    assert (await Api(api.http, "svc_live_00000000none").get("/me")).status == 401
    await api.get("/me")


async def test_an_archive_has_every_call_with_its_query_and_no_key(
    api: Api, hand: Hand, tmp_path: Path
) -> None:
    await a_day(api, hand)
    text = (await archive(hand, tmp_path)).read_text()
    log = json.loads(text)["log"]
    assert log["version"] == "1.2"
    assert log["_sandbox"]["scenario"] == "happy-day"
    assert any(one["request"]["url"].endswith("/ledger?limit=100") for one in log["entries"])
    assert [one["_lost"] for one in log["entries"]].count(True) == 1
    assert sum(one["_control"] for one in log["entries"]) >= 8
    assert api.key not in text
    assert re.findall("svc_live_0{8}[0-9a-z]", text) == []
    listed = (await hand.http.get("journal")).json()["requests"]
    assert len(listed) == sum(not one["_control"] for one in log["entries"])


async def test_the_same_simulator_answers_a_replay_the_same(api: Api, hand: Hand, tmp_path: Path) -> None:
    await a_day(api, hand)
    done = await replay(await archive(hand, tmp_path))
    assert [str(one) for one in done.differences] == []
    assert done.compared == 11


async def test_a_replay_finds_an_answer_that_changed_and_says_where(
    api: Api, hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await a_day(api, hand)
    path = await archive(hand, tmp_path)
    assert await command.compare(path) == command.DONE
    monkeypatch.setattr(processor, "ask", lambda call, cause="": processor.Reply("ok", ""))
    assert await command.compare(path) == command.DIFFERENT
    said = capsys.readouterr().out
    assert "POST /cards/" in said
    assert "status: recorded 502, now 200" in said
    assert topups.OPERATIONS[0].processor


async def test_an_archive_of_a_browser_is_played_with_the_ids_that_stand_for_its_own(tmp_path: Path) -> None:
    card = "Aa1" * 10 + "Zz"

    def entry(method: str, path: str, status: int, data: Any, body: Any = None) -> dict[str, Any]:
        request: dict[str, Any] = {
            "method": method,
            "url": f"https://api.example.com/api/partner/v1{path}",
            "headers": [],
        }
        if body is not None:
            request["postData"] = {"text": json.dumps(body)}
        content = {"text": json.dumps(data)}
        return {
            "startedDateTime": "2026-03-02T09:00:00Z",
            "request": request,
            "response": {"status": status, "content": content},
        }

    shown = {
        "id": card, "partner_ref": "emp-1", "card_holder_name": "ADA LOVELACE", "last4": None, "status": None,
        "created_at": "2026-03-02T09:00:00.000Z",
    }  # fmt: skip
    entries = [
        {"startedDateTime": "2026-03-02T09:00:00Z", "request": {"method": "GET", "url": "https://shop.example/"},
         "response": {"status": 200}},
        entry("POST", "/cards", 201, {"data": {"card": shown}}, ORDER),
        entry("POST", f"/cards/{card}/freeze", 200, {"data": {"card_id": card, "frozen": True}}, {"frozen": True}),
        entry("POST", f"/cards/{card}/freeze", 200, {"data": {"card_id": card, "frozen": True}}, {"frozen": False}),
    ]  # fmt: skip
    path = tmp_path / "browser.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    done = await replay(path)
    assert done.compared == 3
    assert [(one.number, one.place) for one in done.differences] == [(4, "body.data.frozen")]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"log": {"entries": [{}]}}', '{"log": {"entries": 5}}'])
async def test_what_is_no_archive_is_refused_in_a_sentence(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.har"
    path.write_text(text)
    with pytest.raises(NotReplayable, match="not an HTTP archive"):
        await replay(path)
    assert await command.compare(tmp_path / "nowhere.har") == command.CANNOT
    assert "cannot be read" in capsys.readouterr().err


async def keys_of_their_own(api: Api, hand: Hand) -> None:
    """A narrower key beside the first, one that is revoked, limits for one and for all, an account found again."""
    narrow = (await hand("keys", scopes=["cards:read"], rate_limit_per_minute=3))["key"]
    for path, status in {"/cards": 200, "/me": 403, "/cards?limit=1": 200, "/cards?limit=2": 429}.items():
        assert (await Api(api.http, narrow).get(path)).status == status
    assert (await api.get("/me")).status == 200
    await hand("keys", every=True, rate_limit_per_minute=4)
    assert (await Api(api.http, narrow).get("/cards?limit=3")).status == 200
    await hand("keys", key=narrow, revoked=True)
    assert (await Api(api.http, narrow).get("/cards")).status == 401
    assert (await api.get("/cards")).status == 200
    other = (await hand("accounts", name="Other"))["account"]
    assert (await hand("accounts", name="Other"))["account"] == other
    theirs = (await hand("keys", account=other))["key"]
    assert (await Api(api.http, theirs).get("/me")).status == 200


async def deliveries_that_fail(api: Api, hand: Hand) -> None:
    """An endpoint that nobody reaches: attempts now and later, and a code that never comes."""
    await hand("reset", seed="recorded", scenario="happy-day")
    await hand("account", threeds_webhook_enabled=True)
    await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/x"})
    card = next(one["id"] for one in (await api.get("/cards")).data["cards"] if one["status"] == "ACTIVE")
    await api.call("PUT", f"/cards/{card}/3ds", {"mode": "webhook"})
    await hand(f"cards/{card}/3ds", amount_usd="5", merchant="Shop")
    for seconds in (0, 61, 4000):
        await hand("clock", advance_seconds=seconds)
        shown = (await api.get("/events")).data["events"]
    assert max(one["attempts"] for one in shown) > 2
    await api.post(f"/events/{shown[0]['id']}/redeliver")
    await api.get(f"/cards/{card}/transactions")


async def keys_before_the_reset(api: Api, hand: Hand) -> None:
    """What outlives a reset: limits, a key that was revoked, an account."""
    await hand("keys", every=True, rate_limit_per_minute=3)
    narrow = (await hand("keys", scopes=["cards:read"]))["key"]
    other = (await hand("accounts", name="Earlier"))["account"]
    theirs = (await hand("keys", account=other, rate_limit_per_minute=1))["key"]
    await hand("reset", scenario="happy-day")
    assert [(await api.get("/me")).status for _ in range(4)] == [200, 200, 200, 429]
    assert (await Api(api.http, narrow).get("/me")).status == 403
    assert [(await Api(api.http, theirs).get("/me")).status for _ in range(2)] == [200, 429]
    assert (await hand("accounts", name="Earlier"))["account"] == other
    await hand("keys", every=True, rate_limit_per_minute=200)
    assert (await api.get("/me")).status == 200


@pytest.mark.parametrize("day", [a_day, keys_of_their_own, deliveries_that_fail, keys_before_the_reset])
async def test_whatever_was_done_a_replay_of_it_finds_no_difference(
    api: Api, hand: Hand, tmp_path: Path, day: Callable[[Api, Hand], Awaitable[None]]
) -> None:
    await day(api, hand)
    path = await archive(hand, tmp_path)
    done = await replay(path)
    assert [str(one) for one in done.differences] == []
    assert done.compared >= 5
    assert re.findall("svc_live_0{8}[0-9a-f]{24}", path.read_text()) == []


READS = ("/me", "/cards?limit=100", "/ledger?limit=100", "/events?limit=100", "/funding?limit=100")


async def _recorded(name: str, beginning: str, moved: list[datetime], folder: Path) -> Path:
    """What is read after a scenario, a few seconds later, in an archive."""
    world = build_world(":memory:", "recorded")
    if beginning == "start":  # as --scenario does
        catalogue.empty(world, None)
        catalogue.play(world, name)
    else:
        moved[0] += timedelta(seconds=4)
        status, answer = dispatch.handle(world, "POST", f"scenarios/{name}", b"")
        assert status == 200, answer
    moved[0] += timedelta(seconds=3)
    key = (("X-API-Key", standing_key(world)),)
    for read in READS:
        path, _, query = read.partition("?")
        asked = await answering.handle(world, http.Request("GET", f"/api/partner/v1{path}", query, key, b""))
        assert asked.status in (200, 404), asked.body
    path_of_archive = folder / "journal.har"
    path_of_archive.write_bytes(dispatch.handle(world, "GET", "journal.har", b"")[1])
    world.store.close()
    return path_of_archive


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(
    ("name", "beginning"),
    [("happy-day", "start"), ("month-end", "start"), *((name, "control call") for name in sorted(SCENARIOS))],
)
async def test_each_scenario_is_replayed_without_a_difference_at_once_and_days_later(
    name: str, beginning: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = [datetime(2026, 11, 28, 23, 59, 50, tzinfo=UTC)]
    with contextlib.closing(build_world(":memory:").store) as any_store:
        clock = type(World.of(any_store, "any").clock)
    monkeypatch.setattr(clock.__init__, "__defaults__", (lambda: moved[0],))
    path = await _recorded(name, beginning, moved, tmp_path)
    for days in (0, 9):
        moved[0] += timedelta(days=days)
        done = await replay(path)
        assert [str(one) for one in done.differences] == []
        assert done.compared == len(READS)
