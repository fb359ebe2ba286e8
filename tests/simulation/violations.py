"""Every promise broken once by hand, to see that its check sees it: `python -m tests.simulation --violations`.

One small schedule is carried out. Then, for each promise, something is changed behind everybody's back (in the bot's
database, in the API's sandbox, in Slack, or in what the checks remember), the check looks, and all is put back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandbox.partner import http
from tests.simulation.invariants.record import Sent
from tests.simulation.network import API, SLACK, Call, Trouble
from tests.simulation.plan import Plan, Step
from tests.simulation.schedule import Schedule
from tests.simulation.world import ALERTS, ALICE, BOB, CAROL, DETAILS_URL, World
from tests.support.posted_ids import dedupe_of

Plant = Callable[[Schedule], None]
_ASK = {"now": False, "in_slack": False, "pick": 0}
_STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ask", {"kind": "card_topup", "by": ALICE, "card": 0, "amount": 50, **_ASK}),
    ("decide", {"by": BOB, "pick": 0, "action": "approve", "in_slack": False}),
    ("ask", {"kind": "card_limits", "by": ALICE, "card": 1, "amount": 100, **_ASK}),
    ("decide", {"by": BOB, "pick": 0, "action": "approve", "in_slack": False}),
    ("ask", {"kind": "card_limits", "by": ALICE, "card": 1, "amount": 300, **_ASK}),
    ("decide", {"by": CAROL, "pick": 0, "action": "approve", "in_slack": False}),
    ("money", {"kind": "purchase", "card": 0, "amount": 5}),
    ("ask", {"kind": "card_topup", "by": ALICE, "card": 1, "amount": 25, **_ASK}),
)


def found(folder: Path) -> Mapping[str, bool]:
    """By promise, whether its check saw that it was broken."""
    stage = _carried_out(folder)
    try:
        assert not stage.watch.found, stage.watch.found
        return {rule: _sees(stage, rule, plant) for rule, plant in PLANTED.items()}
    finally:
        stage.world.close()


def _carried_out(folder: Path) -> Schedule:
    steps = tuple(Step(number, 4.0, what, given) for number, (what, given) in enumerate(_STEPS))
    plan = Plan(1, steps, relays=True)
    world = World(1, folder, relays=True)
    world.network.rng = random.Random(1)
    world.jobs_late.clear()
    stage = Schedule(plan, world)
    world.start_bots()
    stage.drive(70.0, leap_s=5.0)  # the log of events was read once, so that what comes is new
    for step in steps:
        stage.drive(step.wait)
        stage._take(step)
    stage.drive(90.0, leap_s=5.0)
    world.kill_bot()
    return stage


def _sees(stage: Schedule, rule: str, plant: Plant) -> bool:
    """Plant it, look, and put everything back."""
    world, watch = stage.world, stage.watch
    kept = {name: deepcopy(value) for name, value in vars(watch).items() if name in _REMEMBERED}
    database, api = world.back_up(), world.partner.store.copy()
    messages, groups = deepcopy(world.slack.store.messages), deepcopy(world.slack.store.groups)
    arrived, installation = deepcopy(world.relay.arrived), world.installation
    try:
        plant(stage)
        return any(violation.rule == rule for violation in watch.found)
    finally:
        world.put_in_place(database)
        world.partner.store.put_back(api)
        world.slack.store.messages, world.slack.store.groups = messages, groups
        world.relay.arrived, world.installation = arrived, installation
        world.network.troubles.clear()
        vars(watch).update(kept)
        watch.found.clear()


_REMEMBERED = frozenset(
    {
        *(
            "seen",
            "sent",
            "first_sent",
            "paused_at",
            "held_by_a_pause",
            "orphans",
            "gone_since",
            "ending",
            "emergencies",
            "not_before",
        ),
        *("shown", "pan_calls", "limits_planted"),
    }
)


# What is planted


def _top_up(stage: Schedule) -> Any:
    return stage.world.rows("SELECT * FROM request WHERE kind = 'card_topup' AND state = 'succeeded'")[0]


def _set(stage: Schedule, request_id: str, **values: Any) -> None:
    columns = ", ".join(f"{name} = ?" for name in values)
    stage.world.write(f"UPDATE request SET {columns} WHERE id = ?", *values.values(), request_id)


def _rows(stage: Schedule) -> list[Any]:
    return stage.world.rows("SELECT * FROM request ORDER BY created_at, id")


def _committed(stage: Schedule) -> None:
    stage.watch.moves.after_commit(stage.world.processes[0])


def _leaves(stage: Schedule, path: str = "", amount: str = "50.00", *, open_attempt: bool = True) -> None:
    """The top-up is under way again, and its call leaves now."""
    row = _top_up(stage)
    _set(stage, row["id"], state="executing")
    if open_attempt:
        stage.world.write("UPDATE attempt SET answered_at = NULL WHERE request_id = ?", row["id"])
    stage.watch.first_sent.discard(row["id"])
    where = path or f"/cards/{row['subject']}/topup"
    body = f'{{"amount_usd":{amount}}}'.encode()
    request = http.Request(
        "POST", f"/api/partner/v1{where}", headers=(("Idempotency-Key", row["key"]),), body=body
    )
    call = Call(stage.world.loop.time(), API, f"POST {where}", "bot 1")
    stage.watch.departures.on_departure(request, call)


def _another_debit(stage: Schedule) -> None:
    stage.world.partner.store.run(
        "INSERT INTO ledger (account, amount_usd, kind, reference, card_id, created_at, number) SELECT account,"
        " amount_usd, kind, reference, card_id, created_at, number + 1000 FROM ledger WHERE reference = ?",
        f"topup:{_top_up(stage)['key']}",
    )
    stage.watch.truth.after_step()


def _a_debit_of_nobody(stage: Schedule) -> None:
    stage.world.partner.store.run(
        "UPDATE ledger SET reference = 'topup:co-x' WHERE reference = ?", f"topup:{_top_up(stage)['key']}"
    )
    stage.watch.truth.after_step()


def _to_another_card(stage: Schedule) -> None:
    _leaves(stage, path="/cards/another/topup")


def _while_paused(stage: Schedule) -> None:
    stage.watch.paused_at = 0.0
    _leaves(stage)


def _too_late(stage: Schedule) -> None:
    _set(stage, _top_up(stage)["id"], valid_until="2026-03-02T09:00:01+00:00")
    _leaves(stage)


def _too_early(stage: Schedule) -> None:
    stage.watch.not_before[_top_up(stage)["id"]] = 1e6
    _leaves(stage)


def _without_approvers(stage: Schedule) -> None:
    stage.watch.gone_since[BOB] = -100.0
    next(g for g in stage.world.slack.store.groups.values() if g.handle == "card-approvers").users = []


def _left_without_approvers(stage: Schedule) -> None:
    _without_approvers(stage)
    _leaves(stage)


def _left_while_slack_is_away(stage: Schedule) -> None:
    stage.world.network.troubles.append(Trouble(SLACK, "refused", "", 1, 1e9, began=-100.0))
    _leaves(stage)


def _claimed_while_ending(stage: Schedule) -> None:
    stage.watch.ending["bot 1"] = -100.0
    _leaves(stage)


def _the_older_order(stage: Schedule) -> None:
    row = stage.world.rows("SELECT * FROM request WHERE kind = 'card_limits' ORDER BY approved_at")[0]
    _set(stage, row["id"], state="executing")
    stage.world.write("UPDATE attempt SET answered_at = NULL WHERE request_id = ?", row["id"])
    path = f"/cards/{row['subject']}/limits"
    request = http.Request("PUT", f"/api/partner/v1{path}", body=b"{}")
    stage.watch.departures.on_departure(request, Call(stage.world.loop.time(), API, f"PUT {path}", "bot 1"))


def _another_limit(stage: Schedule) -> None:
    row = stage.world.rows("SELECT * FROM request WHERE kind = 'card_limits' ORDER BY approved_at DESC")[0]
    stage.watch.departures._terms(row, http.Request("PUT", "", body=b'{"daily_limit":3000.00}'), "")


def _still_in_doubt(stage: Schedule) -> None:
    _set(stage, _top_up(stage)["id"], state="unresolved")
    stage.watch.truth.settled(_rows(stage))


def _a_late_emergency(stage: Schedule) -> None:
    stage.watch.emergencies["R-0000"] = 0.0
    stage.watch.departures.emergencies_first(True)


def _limited(stage: Schedule) -> None:
    request = http.Request("GET", "/api/partner/v1/me")
    stage.watch.departures.on_arrival(request, http.Answer(429, b"{}"))


def _was(**values: Any) -> Plant:
    """The last commit left the top-up otherwise than it is now."""

    def plant(stage: Schedule) -> None:
        seen = stage.watch.seen[_top_up(stage)["id"]]
        for name, value in values.items():
            setattr(seen, name, value)
        _committed(stage)

    return plant


def _without_an_entry(stage: Schedule) -> None:
    row = _top_up(stage)
    _set(stage, row["id"], version=row["version"] + 50)
    stage.watch.seen[row["id"]].state = "executing"
    _committed(stage)


def _by_another_process(stage: Schedule) -> None:
    process = stage.world.processes[0]
    seen = stage.watch.seen[_top_up(stage)["id"]]
    seen.state, seen.version, seen.holder = "executing", seen.version - 1, f"not {process.name}"
    seen.lease_until = "2026-03-02T23:00:00+00:00"
    process.owner.context.copy().run(_committed, stage)


def _a_doubt_in_silence(stage: Schedule) -> None:
    request_id = _top_up(stage)["id"]
    _set(stage, request_id, state="unresolved")
    stage.watch.seen[request_id].state = "executing"
    stage.watch.seen[request_id].version -= 1
    _committed(stage)


def _failed_on_the_way(stage: Schedule) -> None:
    """Called failed, while the API has not seen its call yet."""
    row, now = _top_up(stage), stage.world.loop.time()
    stage.world.partner.store.run("UPDATE keyed SET key = 'another' WHERE key = ?", row["key"])
    call = Call(now, API, "POST", "bot 1", "late")
    stage.watch.sent.append(Sent(now, (row["id"],), "POST", call))
    _set(stage, row["id"], state="failed")
    stage.watch.seen[row["id"]].state = "executing"
    stage.watch.seen[row["id"]].version -= 1
    _committed(stage)


def _not_reminded(stage: Schedule) -> None:
    """A doubt of five hours ago of which nobody was reminded."""
    _set(stage, _top_up(stage)["id"], state="unresolved", first_sent_at="2026-03-02T04:00:00+00:00")
    stage.watch.reports.reminders(_rows(stage))


def _a_wrong_figure(stage: Schedule) -> None:
    stage.watch.money.said_of_the_float(stage.world.loop.time(), "Float 12,345.67 USD, available 1.00 USD")


def _needs_too_few(stage: Schedule) -> None:
    request_id = _top_up(stage)["id"]
    _set(stage, request_id, approvals_needed=7)
    stage.watch.moves.approvals.asked(request_id, stage.world.installation.policy)


def _approved(change: Plant, **policy: Any) -> Plant:
    def plant(stage: Schedule) -> None:
        change(stage)
        changed = replace(stage.world.installation.policy, **policy)
        stage.watch.moves.approvals.approved(_top_up(stage)["id"], changed)

    return plant


def _nothing(_stage: Schedule) -> None: ...


def _no_decisions(stage: Schedule) -> None:
    stage.world.write("DELETE FROM decision WHERE request_id = ?", _top_up(stage)["id"])


def _change(**values: Any) -> Plant:
    return lambda stage: _set(stage, _top_up(stage)["id"], **values)


def _a_doubt_of_nobody(stage: Schedule) -> None:
    request_id = _top_up(stage)["id"]
    _set(stage, request_id, outcome_text="An older request has no known outcome.")
    stage.watch.moves.cancelled(request_id)


def _at_the_end(check: str, change: Plant, *, rows: bool = False) -> Plant:
    """Something is changed, and this check looks at the end."""

    def plant(stage: Schedule) -> None:
        # Of what was changed the state may be another one by now: the rows are read after it.
        change(stage)
        look = getattr(stage.watch, check).at_the_end
        look(_rows(stage)) if rows else look()

    return plant


def _of_another_kind(stage: Schedule) -> None:
    """A quote that is called given, of which no call is known."""
    stage.world.write("UPDATE request SET kind = 'deposit_quote' WHERE kind = 'card_limits'")
    stage.watch.sent.clear()


def _said_otherwise(stage: Schedule) -> None:
    row = _top_up(stage)
    for person in (BOB, CAROL):
        stage.world.write(
            "INSERT INTO decision (id, request_id, kind, actor, actor_name, requester, reason, verdict, digest,"
            " policy_version, mac, decided_at)"
            " SELECT ?, request_id, 'resolve', ?, actor_name, requester, reason, 'failed', digest,"
            " policy_version, mac, decided_at FROM decision WHERE request_id = ? AND kind = 'approve'",
            f"said by {person}",
            person,
            row["id"],
        )


def _an_answer_not_kept(stage: Schedule) -> None:
    row = stage.world.rows("SELECT a.id FROM attempt a JOIN request r ON r.id = a.request_id LIMIT 1")[0]
    stage.world.write("UPDATE attempt SET answered_at = NULL WHERE id = ?", row["id"])
    stage.world.processes[0].died_at = 1e9
    call = Call(0.0, API, "POST", "bot 1", returned=1.0)
    stage.watch.sent.append(Sent(0.0, ("R-0000",), "POST", call, row["id"], 200))


def _sql(statement: str) -> Plant:
    return lambda stage: stage.world.write(statement)


def _alert(kind: str) -> Plant:
    columns = "id, dedupe, kind, subject, severity, title, text, state, count, raised_at, updated_at"
    at = "2026-03-02T09:00:00+00:00"
    return _sql(
        f"INSERT INTO alert ({columns}) VALUES"
        f" ('A-1', 'planted', '{kind}', 'main', 'warning', 'Planted', '', 'raised', 1, '{at}', '{at}')"
    )


def _posted_twice(stage: Schedule) -> None:
    store = stage.world.slack.store
    known = stage.world.slack_side.posted.all()
    channel, posted = next(
        (channel, message)
        for channel, messages in store.messages.items()
        for message in messages
        if dedupe_of(message) in known
    )
    store.put_message(channel, {**posted, "ts": f"{float(posted['ts']) + 1:.6f}"})


def _says(text: str) -> Plant:
    """A message in the alerts channel."""

    def plant(stage: Schedule) -> None:
        said = text or stage.world.installation.api_key
        stage.world.slack.store.messages[ALERTS].append({"ts": "1.0", "text": said, "blocks": []})

    return plant


def _another_copy(stage: Schedule) -> None:
    arrived = stage.world.relay.arrived
    first = next(iter(arrived.values()))[0]
    arrived[first.headers["webhook-id"]].append(replace(first, body=b'{"type":"card.authorized"}'))


def _shown_twice(stage: Schedule) -> None:
    link = f"{DETAILS_URL}/details#token"
    stage.watch.shown += [(1.0, link), (2.0, link)]


PLANTED: Mapping[str, Plant] = {
    "I-1 once": _another_debit,
    "I-2 approved": _a_debit_of_nobody,
    "I-2 attempt": lambda stage: _leaves(stage, open_attempt=False),
    "I-2 card": _to_another_card,
    "I-2 terms": _another_limit,
    "I-24 amount": lambda stage: _leaves(stage, amount="50.001"),
    "I-4 pause": _while_paused,
    "I-4 validity": _too_late,
    "I-4 cool-off": _too_early,
    "I-4 approvers": _left_without_approvers,
    "I-22 fail closed": _left_while_slack_is_away,
    "ending claims nothing": _claimed_while_ending,
    "the newest decision holds": _the_older_order,
    "emergencies first": _a_late_emergency,
    "I-20 rate": _limited,
    "I-5 moves": _was(state="rejected", version=1),
    "I-5 version": _was(version=999),
    "I-17 entries": _without_an_entry,
    "I-18 lease": _by_another_process,
    "I-8 at once": _a_doubt_in_silence,
    "I-3 needed": _needs_too_few,
    "I-3 passkey": _approved(_nothing, passkeys=True),
    "I-3 approvals": _approved(_no_decisions),
    "I-3 one person": _approved(_nothing, stands_for=(BOB, ALICE)),
    "I-3 able": _approved(_without_approvers),
    "I-3 emergency": _approved(_change(break_glass=1)),
    "I-4 expiry": _approved(_change(expires_at="2026-03-02T09:00:01+00:00")),
    "I-11 limits": _approved(_nothing, per_requester_usd=1),
    "a doubt is a doubt": _a_doubt_of_nobody,
    "a doubt ends by proof": _failed_on_the_way,
    "I-8 reminders": _not_reminded,
    "figures are true": _a_wrong_figure,
    "I-6 ends": _at_the_end("truth", _change(state="approved"), rows=True),
    "I-7 true": _at_the_end("truth", _change(state="failed"), rows=True),
    "own effect": _at_the_end("truth", _of_another_kind, rows=True),
    "I-23 settles": _still_in_doubt,
    "two people decided": _at_the_end("truth", _said_otherwise, rows=True),
    "an answer is kept": _at_the_end("truth", _an_answer_not_kept, rows=True),
    "I-8 told": _at_the_end("reports", _change(state="expired"), rows=True),
    "I-9 doubled": _at_the_end("reports", _posted_twice, rows=True),
    "no message is lost": _at_the_end("reports", _sql("UPDATE outbox SET state = 'dropped'"), rows=True),
    "I-12 events": _at_the_end("reports", _sql("UPDATE inbox SET state = 'received'"), rows=True),
    "I-13 events": _at_the_end("reports", _sql("DELETE FROM inbox"), rows=True),
    "I-10 orphans": _at_the_end("reports", lambda stage: stage.watch.orphans.add("co-x"), rows=True),
    "requests end": _at_the_end(
        "reports", _sql("UPDATE request SET expires_at = '2026-03-02T09:00:01+00:00'"), rows=True
    ),
    "a pause ends": _at_the_end("alerts", _sql("UPDATE program SET paused_reason = 'planted'"), rows=True),
    "nobody is accused": _at_the_end("alerts", _alert("tampered"), rows=True),
    "every alert ends": _at_the_end("alerts", _alert("paused"), rows=True),
    "money is true": _at_the_end(
        "money", _change(outcome_text="51.00 USD moved from the float onto a card."), rows=True
    ),
    "I-14 purchases": _at_the_end(
        "purchases", _sql("UPDATE purchase SET picture = json_set(picture, '$.charge_usd', '7')")
    ),
    "I-15 codes": _at_the_end("secrecy", _says("Card 4111111111111111 was used.")),
    "I-15 purged": _at_the_end(
        "secrecy", _change(sealed_private="v1.planted", finished_at="2026-03-01T09:00:00+00:00")
    ),
    "I-16 secrets": _at_the_end("secrecy", _says("")),
    "I-19 relay": _at_the_end("relayed", _another_copy),
    "I-21 links": _at_the_end("links", _shown_twice),
}
