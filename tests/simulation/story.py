"""A run in sentences: who did what when, what went over the wire, and what became of it."""

from __future__ import annotations

from datetime import timedelta

from tests.simulation.plan import Plan, Step
from tests.simulation.world import START


def tell(at: float, text: str) -> None:
    """One line of the story, with the time of day at the API."""
    moment = START + timedelta(seconds=at)
    print(f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}  {text}")


def heading(plan: Plan) -> str:
    """What a story begins with."""
    more = f" The key lacks {', '.join(plan.scopes_missing)}." if plan.scopes_missing else ""
    settings = f" The API's account: {plan.settings}." if plan.settings else ""
    return f"Seed {plan.seed}, {len(plan.steps)} steps.{more}{settings}"


def sentence(step: Step) -> str:
    """What a step of trouble is, in words; what people do tells itself."""
    given = step.given
    said = {
        "api fault": lambda: f"the API will answer {_fault(given['fault'])}",
        "network": lambda: (
            f"the next {given['times']} calls to {given['side']} about '{given['what'] or 'anything'}' will be"
            f" {given['effect']} ({given['seconds']:.0f} s)"
        ),
        "outage": lambda: f"{given['side']} is away for {given['seconds']:.0f} s ({given['effect']})",
        "slack fault": lambda: f"Slack will answer {_fault(given['fault'])}",
        "kill": lambda: f"the process will be killed after {given['after']} turns, for {given['down']:.0f} s",
        "restart": lambda: f"the process is asked to end, for {given['down']:.0f} s",
        "die at": lambda: f"the process will die at {given['point']} (time {given['nth']})",
        "disk full": lambda: f"the disk is full for {given['seconds']} s",
        "clock": lambda: f"the bot's clock is wrong by {given['wrong_by']:.0f} s",
        "person": lambda: f"{given['who']} changes: {given['change']}",
        "group": lambda: f"the approvers are {', '.join(given['users'])}",
        "api key": lambda: f"the API key has these scopes: {given['scopes']}",
        "forgeries": lambda: f"{given['count']} forged deliveries arrive",
    }.get(step.what)
    return f"step {step.number}: {said()}" if said else f"step {step.number}: {step.what}"


def _fault(fault: dict[str, object]) -> str:
    named = [
        f"{name} {value}" for name, value in fault.items() if name not in ("operation", "method", "times")
    ]
    where = fault.get("operation") or fault.get("method") or "anything"
    return f"'{where}' with {', '.join(named)}, {fault.get('times', 1)} times"
