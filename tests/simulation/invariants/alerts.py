"""Alerts: each is raised with what it is about, and ends with it; none accuses anybody without cause.

An alert that is still open at the end is right only where what it says still holds; `_HOLDS` says how that is seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.simulation.invariants.record import AT_ONCE_S, Record, all_text, seconds
from tests.support.posted_ids import dedupe_of

# alerts.float.clear_usd of the reviewed file, by default.
CLEAR_USD = 1200
_OPEN = ("pending", "approved", "executing", "unresolved")


class Alerts:
    """What is open, and whether it should be."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self, rows: list[Any]) -> None:
        """Every alert ends when what it says is over."""
        world = self.known.world
        for row in world.rows("SELECT * FROM alert WHERE kind IN ('tampered', 'key_reused')"):
            if any(old in row["subject"] for old in self.known.old_rows):
                continue  # the simulation did change what was stored
            self.known.broken("nobody is accused", f"{row['kind']}: {row['title'][:100]}")
        for row in world.rows("SELECT name FROM program WHERE paused_reason IS NOT NULL"):
            self.known.broken("a pause ends", f"{row['name']} is still stopped")
        requests = {row["id"]: row for row in rows}
        for row in world.rows("SELECT * FROM alert WHERE state <> 'resolved'"):
            if any(old in row["subject"] for old in self.known.old_rows):
                continue
            about = requests.get(row["subject"])
            holds = _HOLDS.get(row["kind"])
            if holds is None or not holds(self.known, row, about):
                self.known.broken(
                    "every alert ends", f"{row['kind']} on {row['subject']}: {row['title'][:80]}"
                )


Holds = Callable[[Record, Any, Any], bool]


def _unresolved(_known: Record, _alert: Any, about: Any) -> bool:
    return about is not None and about["state"] == "unresolved"


def _float_is_low(known: Record, _alert: Any, _about: Any) -> bool:
    account = known.world.tell_partner("state", method="GET")["accounts"][0]
    return float(account["float"]["available_usd"]) < CLEAR_USD


def _was_declined(known: Record, _alert: Any, _about: Any) -> bool:
    return known.world.partner.store.one("SELECT 1 FROM events WHERE type = 'card.declined'") is not None


def _funding_is_open(known: Record, _alert: Any, _about: Any) -> bool:
    """Not credited, or taken back."""
    return known.world.partner.store.one("SELECT 1 FROM funding WHERE status <> 'credited'") is not None


def _waits_for_a_code(known: Record, _alert: Any, _about: Any) -> bool:
    """A challenge is open; or nobody looks, because the timer is off in this world."""
    is_open = known.world.partner.store.one("SELECT 1 FROM challenges WHERE state = 'open'")
    return is_open is not None or "codes" in known.world.jobs_off


def _card_is_not_active(known: Record, alert: Any, _about: Any) -> bool:
    card = known.world.partner.store.one("SELECT status FROM cards WHERE id = ?", alert["subject"])
    return card is not None and card["status"] != "ACTIVE"


def _a_freeze_stops_it(known: Record, _alert: Any, _about: Any) -> bool:
    return known.world.partner.store.one("SELECT 1 FROM cards WHERE status = 'FROZEN'") is not None


def _landed_late(known: Record, _alert: Any, about: Any) -> bool:
    """It was given up as failed, and S did it after all, or moved money and no more."""
    return about is not None and (known.did(about) or known.emptied(about) or known.net_usd(about) != 0)


def _not_done(_known: Record, _alert: Any, about: Any) -> bool:
    return about is not None and about["state"] in ("failed", "cancelled", "expired")


def _somebody_is_asked(known: Record, _alert: Any, _about: Any) -> bool:
    return bool(known.world.rows("SELECT 1 FROM consent WHERE state = 'open'"))


def _was_refused_by_slack(known: Record, alert: Any, _about: Any) -> bool:
    """It was dropped; or it stands in Slack as plain text, and nothing changed since that would draw it again."""
    subject = alert["subject"]
    if known.world.rows("SELECT 1 FROM outbox WHERE state = 'dropped' AND subject = ?", subject):
        return True
    return any(
        subject.rpartition(":")[2] in dedupe_of(message) and "there are no buttons here" in all_text(message)
        for messages in known.world.slack.store.messages.values()
        for message in messages
    )


def _is_held(known: Record, _alert: Any, _about: Any) -> bool:
    return bool(known.world.rows("SELECT 1 FROM held_endpoint"))


def _secret_is_lost(known: Record, _alert: Any, _about: Any) -> bool:
    newest = known.world.rows("SELECT state FROM webhook_secret ORDER BY version DESC LIMIT 1")
    return bool(newest) and newest[0]["state"] == "lost"


def _is_unexplained(known: Record, _alert: Any, _about: Any) -> bool:
    """Debits under keys that D does not know, or what the API's people booked."""
    adjusted = known.world.partner.store.one("SELECT 1 FROM ledger WHERE kind = 'adjustment'")
    return bool(known.orphans) or adjusted is not None


def _was_given_up(known: Record, _alert: Any, _about: Any) -> bool:
    return bool(known.world.rows("SELECT 1 FROM relay_delivery WHERE state = 'dead'"))


def _was_made_older(known: Record, _alert: Any, _about: Any) -> bool:
    """Rows that were made as an older version kept them, behind the back of the log."""
    return bool(known.old_rows)


def _nobody_knows_what_became_of_it(known: Record, alert: Any, _about: Any) -> bool:
    """Each one that it names is open and was never posted before a start that could not know whether its database is
    the newest. What was only not readable has been read since the trouble ended, and no message is ever taken out."""
    held = known.world.rows("SELECT name, value FROM reading WHERE name LIKE 'request_unseen/%'")
    for row in held:
        request = known.world.rows("SELECT * FROM request WHERE id = ?", row["name"].partition("/")[2])
        is_named = bool(request) and request[0]["state"] in _OPEN and request[0]["id"] in alert["text"]
        if not is_named or json.loads(row["value"])[2] != "never_posted":
            return False
        if not _ended_after(known, seconds(request[0]["created_at"])):
            return False
    return bool(held)


def _ended_after(known: Record, at: float) -> bool:
    """Did a process end after that, or was a copy put in place that has it? By a clock that was wrong nobody knows."""
    is_of_a_copy = known.restored_from is not None and at <= known.restored_from + AT_ONCE_S
    ended = [process.died_at for process in known.world.processes if not process.owner.alive]
    return is_of_a_copy or any(died_at >= at for died_at in ended) or not known.world.clocks_never_wrong


def _always(_known: Record, _alert: Any, _about: Any) -> bool:
    return True


_HOLDS: Mapping[str, Holds] = {
    "unresolved": _unresolved,
    "not_done_yet": _unresolved,
    "not_done": _not_done,
    "float_low": _float_is_low,
    "runway": _always,  # a forecast, which nothing in the API's books contradicts
    "decline": _was_declined,
    "stopped": _a_freeze_stops_it,
    "funding": _funding_is_open,
    "3ds": _waits_for_a_code,
    "card_status": _card_is_not_active,
    "card_blocked": _card_is_not_active,
    "landed_late": _landed_late,
    "consent": _somebody_is_asked,
    "message_failed": _was_refused_by_slack,
    "scope": _is_held,
    "webhook_secret": _secret_is_lost,
    "changed_outside": _was_made_older,
    "unexplained_movement": _is_unexplained,
    "relay_dead": _was_given_up,
    "requests_unseen": _nobody_knows_what_became_of_it,
    "relay_unreadable": _was_given_up,
}
