"""The alerts of events on their way: to us by webhook, through the inbox, and on to other systems by the relay."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bot.domain.alerts.alert_kind import AlertKind, Button, Remedy, Said, Severity, one

WEBHOOK_FAILING = AlertKind(
    name="webhook_failing",
    told_when="the service cannot deliver",
    found_by="poller",
    ends="it delivers again, or nothing is registered",
    wordings=one(
        Severity.WARNING,
        "Deliveries to {program} fail",
        "The service could not deliver {count} of the newest events, the first of {first:%Y-%m-%d %H:%M} UTC. They are"
        " read from the event log instead, later than they would come. It gives an event up after two hours. 3-D"
        " Secure purchases of cards in webhook mode cannot complete meanwhile. Check that the public address reaches"
        " this bot.",
    ),
    runbook="webhook_failing-webhook_silent",
)

WEBHOOK_SILENT = AlertKind(
    name="webhook_silent",
    told_when="the service delivers somewhere else",
    found_by="poller",
    ends="a delivery comes here, or nothing is registered",
    wordings=one(
        Severity.WARNING,
        "No delivery of {program} reaches this bot",
        "The service says that it delivered its newest events, and none of them came here: the registered address is"
        " another system's, or something in between answers for us. They are read from the event log instead. Look"
        " at `/countersign webhook` and at the address.",
    ),
    runbook="webhook_failing-webhook_silent",
)

DELIVERIES_REFUSED = AlertKind(
    name="deliveries_refused",
    told_when="deliveries arrive that are not genuine",
    found_by="webhook",
    ends="none was refused for five minutes",
    wordings=one(
        Severity.WARNING,
        "Deliveries to {program} are refused",
        "In the last five minutes: {causes}. Nothing of them was stored. Our clock says {now:%Y-%m-%d %H:%M:%S} UTC."
        " The service delivers what is genuine again for two hours, and the event log is read besides. After a"
        " rotation wait a minute; else compare the clock, or rotate the secret with `/countersign webhook`.",
    ),
    condition_name="deliveries",
)

WEBHOOK_SECRET = AlertKind(
    name="webhook_secret",
    told_when="nobody has the secret that deliveries are signed with",
    found_by="execution",
    ends="a new secret is stored",
    wordings=one(
        Severity.WARNING,
        "Nobody has the webhook secret of {program}",
        "After {request} the service signs with a secret that never reached this bot: the answer with its only copy"
        " was lost, or it was made elsewhere. Deliveries are refused, and events are read from the log instead, later"
        " than they would come. Rotate the secret with `/countersign webhook`.",
    ),
    remedies=(Remedy.ROTATE_WEBHOOK_SECRET,),
)

EVENT_STUCK = AlertKind(
    name="event_stuck",
    told_when="an event cannot be handled",
    found_by="inbox",
    ends="it is handled",
    wordings=one(
        Severity.WARNING,
        "An event cannot be handled",
        "Event {event} ({type}) of {program} was stored, and handling it has failed {attempts} times. It is kept and"
        " tried every hour; no money is moved by it. Look at the log for the cause, and at the card or the funding it"
        " is about in the meantime.",
    ),
    condition_name="event",
)

RELAY_DEAD = AlertKind(
    name="relay_dead",
    told_when="another system does not take its copies of events for a day",
    found_by="relay",
    ends="they are sent again by a person, or dropped",
    wordings=one(
        Severity.WARNING,
        "{destination} does not get its events: {count} given up",
        "They were tried for a day, and the last answer was: {error}. They are kept for a while. When {destination}"
        " works again, have an approver or admin press Redeliver: each is sent with its id and its bytes as before.",
    ),
    buttons=(Button.ACK, Button.SNOOZE, Button.REDELIVER, Button.MORE),
    condition_name="relay",
)

RELAY_DESTINATIONS = AlertKind(
    name="relay_destinations",
    told_when="the list of systems that get copies of events changed",
    found_by="start",
    ends="told once",
    wordings=one(Severity.WARNING, "The destinations of the relay have changed", "{changes}"),
)


def destinations_changed(
    before: Mapping[str, object], now: Mapping[str, Mapping[str, object]], dropped: int
) -> Said:
    """Who gets no copies any more, who gets which and where, and how many messages went with the change.

    Both maps: name -> {"url": …, "events": [type, …]}.
    """
    said = [f"{name} gets no events any more." for name in sorted(set(before) - set(now))]
    for name, given in sorted(now.items()):
        if before.get(name) != given:
            events = ", ".join(map(str, given["events"] if isinstance(given["events"], list) else ()))
            word = "now gets" if name in before else "is new and gets"
            said.append(f"{name} {word} {events} at {given['url']}.")
    if dropped:
        said.append(f"{dropped} messages were dropped.")
    return RELAY_DESTINATIONS.says(changes=" ".join(said))


def deliveries_refused(program: str, causes: Mapping[str, int], now: datetime) -> Said:
    """`causes`: how many deliveries each had refused in the last five minutes, the most frequent first."""
    told = ", ".join(f"{count} {cause}" for cause, count in causes.items())
    return DELIVERIES_REFUSED.says(program=program, causes=told, now=now)
