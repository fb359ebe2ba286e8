"""A run in sentences: who did what when, what went over the wire, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from tests.simulation.plan import Plan, Step
from tests.simulation.world import START

Given = Mapping[str, Any]


def tell(at: float, text: str) -> None:
    """One line of the story, with the time of day at the API."""
    moment = START + timedelta(seconds=at)
    print(f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}  {text}")


def heading(plan: Plan) -> str:
    """What a story begins with."""
    more = f" The key lacks {', '.join(plan.scopes_missing)}." if plan.scopes_missing else ""
    settings = f" The API's account: {plan.settings}." if plan.settings else ""
    several = f" {plan.replicas} processes share the database." if plan.replicas > 1 else ""
    relays = " Another system gets copies of events." if plan.relays else ""
    relays += f" What is approved waits for {plan.cool_off_s} s." if plan.cool_off_s else ""
    return f"Seed {plan.seed}, {len(plan.steps)} steps.{several}{relays}{more}{settings}"


def sentence(step: Step) -> str:
    """What a step is, in words."""
    said = _SAID.get(step.what)
    return f"Step {step.number}: {said(step.given) if said else step.what}"


def _fault(fault: Given) -> str:
    named = {name: value for name, value in fault.items() if name not in ("operation", "method", "times")}
    where = fault.get("operation") or fault.get("method") or "whatever is called"
    said = ", ".join(f"{name} {value}" for name, value in named.items())
    return f"{where} ({said}), {_times(fault.get('times', 1))}"


def _times(count: Any) -> str:
    return "once" if count == 1 else f"{count} times"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds} s"


def _network(given: Given) -> str:
    about = f" about “{given['what']}”" if given["what"] else ""
    lasts = f", by {_seconds(given['seconds'])}" if given["effect"] in ("late", "slow") else ""
    count = "the next call" if given["times"] == 1 else f"the next {given['times']} calls"
    return f"{count} to {given['side']}{about} will be: {given['effect']}{lasts}."


def _policy(given: Given) -> str:
    changes = ", ".join(f"{name} = {value}" for name, value in given["change"].items())
    when = "every process is started anew" if given["restarts"] else "nobody restarts anything yet"
    return f"the reviewed file is changed ({changes}), and {when}."


_MONEY = {
    "float": "somebody at the API takes {amount} USD out of the float.",
    "orphan": "a debit of {amount} USD appears under a key that Countersign does not know.",
    "purchase": "card {card} pays {amount} USD.",
    "decline": "card {card} is declined for {amount} USD.",
    "settle": "a merchant settles a purchase.",
    "reverse": "a merchant takes a purchase back.",
    "refund": "a merchant refunds a purchase.",
    "3ds": "card {card} pays {amount} USD online, which asks for a one-time code.",
}
_STAGES = {
    "add": "a second master key is added to the keyring, and every process started anew.",
    "make first": "the second master key becomes the first, and every process is started anew.",
    "seal anew": "everything is sealed anew under the first master key.",
}
# What people do is told as they do it.
_SAID: Mapping[str, Callable[[Given], str]] = {
    "ask": lambda _: "somebody requests something.",
    "ask many": lambda _: "somebody requests a batch.",
    "ask by name": lambda given: f"somebody names a card by “{given['text']}”.",
    "decide": lambda _: "somebody decides.",
    "by hand": lambda _: "two people say how a doubtful request came out.",
    "time passes": lambda given: f"nobody does anything for {_seconds(given['seconds'])}.",
    "look": lambda _: "somebody looks something up.",
    "click": lambda given: f"somebody tries to {given['action']}, whether they may or not.",
    "click twice": lambda given: f"somebody clicks {given['action']} twice.",
    "open link": lambda given: f"a link to card details is opened {_times(given['times'])}.",
    "another link": lambda _: "somebody asks for another link to card details.",
    "api fault": lambda given: f"the API will answer {_fault(given['fault'])}.",
    "slack fault": lambda given: f"Slack will answer {_fault(given['fault'])}.",
    "network": _network,
    "outage": lambda given: (
        f"{given['side']} is away for {_seconds(given['seconds'])} ({given['effect']})"
        + (f", for “{given['what']}” alone." if given.get("what") else ".")
    ),
    "rate": lambda given: f"the API allows {given['per_minute']} calls a minute from now on.",
    "lost commits": lambda given: (
        f"the connection breaks during the next {given['times']} commits, which are"
        f" {'done all the same' if given['done'] else 'not done'}."
    ),
    "relay answers": lambda given: f"the other system will answer {', '.join(map(str, given['statuses']))}.",
    "kill": lambda given: (
        f"a process is killed after {given['after']} turns, and started again {_seconds(given['down'])} later."
    ),
    "restart": lambda given: f"a process is asked to end, and started again {_seconds(given['down'])} later.",
    "die at": lambda given: f"a process will die at the point {given['point']}, the {given['nth']}. time.",
    "standstill": lambda given: f"a process stands still for {_seconds(given['seconds'])}.",
    "no audit entry": lambda given: f"the audit takes no entry for {_seconds(given['seconds'])}.",
    "disk full": lambda given: f"the disk is full for {_seconds(given['seconds'])}.",
    "database": lambda given: f"for {_seconds(given['seconds'])} the database says: {given['says']}.",
    "clock": lambda given: f"every clock of the bot is wrong by {given['wrong_by']:.0f} s.",
    "clock of one": lambda given: f"the clock of one process is wrong by {given['wrong_by']:.0f} s.",
    "old row": lambda _: "a request that ended is kept as an older version kept it.",
    "policy": _policy,
    "new api key": lambda given: (
        f"a new key of the API takes the place of the old one, revoked {given['revoked']}."
    ),
    "api key": lambda given: f"the API key may do this: {given['scopes']}.",
    "master key": lambda given: _STAGES[given["stage"]],
    "wrong master key": lambda _: "somebody starts it with a wrong master key.",
    "back up": lambda _: "a copy of the database is made.",
    "restore": lambda _: "the older copy is put in place of the database.",
    "person": lambda given: f"{_named(given['who'])} is changed in Slack: {given['change']}.",
    "group": lambda given: f"the approvers are {', '.join(map(_named, given['users']))} now.",
    "pause": lambda _: "somebody pauses sending.",
    "resume": lambda _: "two people resume sending.",
    "support": lambda given: f"the API's support settles a doubtful call as {given['verdict']}.",
    "funding decided": lambda given: f"the API's people decide on a funding: {given['decision']}.",
    "money": lambda given: _MONEY[given["kind"]].format(**given),
    "forgeries": lambda given: f"{given['count']} forged deliveries arrive.",
}


def _named(user: str) -> str:
    return user[2:].title()
