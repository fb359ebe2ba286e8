"""The alerts of what is on its way: events to us by webhook, through the inbox, and on to other systems by the relay;
messages to Slack."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bot.domain import slack_faults
from bot.domain.alerts.alert_kind import AlertKind, Button, Ending, Remedy, Said, Severity, Wording, one, over

WEBHOOK_FAILING = AlertKind(
    name="webhook_failing",
    raised_when="your card provider cannot deliver",
    found_by="poller",
    ends="it delivers again, or nothing is registered",
    wordings=one(
        Severity.WARNING,
        "Webhook deliveries for {program} fail",
        "Your card provider could not deliver {count} of the newest events, the first of {first:%Y-%m-%d %H:%M} UTC."
        " Countersign reads them from the event log instead, so alerts come later. Your card provider gives an event up"
        " after two hours. Cards that get their 3-D Secure codes by webhook cannot complete purchases meanwhile. Check"
        " that Countersign can be reached at its public address.",
    ),
    endings={
        "": Ending(
            "Webhook deliveries for {program} arrive again",
            "They failed for {lasted}. Countersign read every event from the event log meanwhile.",
        ),
        "not registered": Ending(
            "Webhook deliveries for {program} have stopped: no webhook is registered",
            "They failed for {lasted}. Countersign reads events from the event log.",
        ),
    },
    runbook="webhook_failing-webhook_silent",
)

WEBHOOK_SILENT = AlertKind(
    name="webhook_silent",
    raised_when="your card provider delivers somewhere else",
    found_by="poller",
    ends="a delivery comes here, or nothing is registered",
    wordings=one(
        Severity.WARNING,
        "No webhook delivery for {program} arrives here",
        "Your card provider says that it delivered its newest events, but none of them arrived here. The registered"
        " address may belong to another system, or something in between answers for Countersign. Countersign reads the"
        " events from the event log instead. Check the address with `/countersign webhook`.",
    ),
    endings={
        "": Ending(
            "Webhook deliveries for {program} arrive here again",
            "None came for {lasted}. Countersign read every event from the event log meanwhile.",
        ),
        "not registered": Ending(
            "Webhook deliveries for {program} have stopped: no webhook is registered",
            "None came for {lasted}. Countersign reads events from the event log.",
        ),
    },
    runbook="webhook_failing-webhook_silent",
)

DELIVERIES_REFUSED = AlertKind(
    name="deliveries_refused",
    raised_when="deliveries arrive that are not genuine",
    found_by="webhook",
    ends="none was refused for five minutes, or a genuine one came after a new secret was stored",
    wordings=one(
        Severity.WARNING,
        "Countersign refuses webhook deliveries for {program}",
        "In the last five minutes: {causes}. None of them was stored. Countersign's clock says"
        " {now:%Y-%m-%d %H:%M:%S} UTC. Your card provider repeats genuine deliveries for two hours, and Countersign"
        " also reads the event log. If the secret was just rotated, wait a minute. Otherwise compare the clock, or"
        " rotate the secret with `/countersign webhook`.",
    ),
    endings=over(
        "Webhook deliveries for {program} are accepted again",
        "Some were refused for {lasted}, and none of those was stored. Genuine events come again, or were read from the"
        " event log.",
    ),
    condition_name="deliveries",
)

WEBHOOK_SECRET = AlertKind(
    name="webhook_secret",
    raised_when="nobody has the secret that deliveries are signed with",
    found_by="execution",
    ends="a new secret is stored",
    wordings=one(
        Severity.WARNING,
        "The webhook secret of {program} is lost",
        "After {request} your card provider signs with a secret that never reached Countersign. The answer with its"
        " only copy was lost, or the secret was made elsewhere. Countersign refuses deliveries and reads events from"
        " the event log instead, so alerts come later. Rotate the secret with `/countersign webhook`.",
    ),
    endings=over(
        "The webhook secret of {program} is known again",
        "A new secret is stored. It was missing for {lasted}; events were read from the event log meanwhile.",
    ),
    remedies=(Remedy.ROTATE_WEBHOOK_SECRET,),
)

EVENT_STUCK = AlertKind(
    name="event_stuck",
    raised_when="an event cannot be handled",
    found_by="inbox",
    ends="it is handled",
    wordings=one(
        Severity.WARNING,
        "An event of {program} cannot be processed",
        "Event {event} ({type}) was stored, but processing it has failed {attempts} times. Countersign keeps it and"
        " tries again every hour. No money moves by it. The log has the cause. Meanwhile, check the card or the funding"
        " that it is about.",
    ),
    endings=over("Event {subject} was processed", "It was {lasted} late."),
    condition_name="event",
)

RELAY_DEAD = AlertKind(
    name="relay_dead",
    raised_when="another system does not take its copies of events for a day",
    found_by="relay",
    ends="they are sent again by a person, or dropped",
    wordings=one(
        Severity.WARNING,
        "{destination} is not receiving events: {count} given up",
        "Countersign tried for a day, and the last answer was: {error}. The events are kept for the time set in"
        " retention.relay (30 days unless set). When {destination} works again, an approver or admin presses Redeliver."
        " Each event is then sent again unchanged, with the same id.",
    ),
    endings={
        "": Ending("{subject} has no events waiting any more", "Some were not delivered for {lasted}."),
        "sent again": Ending(
            "{subject}: the events given up are sent again", "{who} started it, {lasted} after the alert."
        ),
        "dropped": Ending(
            "{subject}: the events given up were deleted",
            "Nobody sent them again in time. {subject} has to read these events from the event log itself.",
        ),
        "not a destination": Ending(
            "{subject} is not a destination any more", "The events waiting for it were deleted."
        ),
    },
    buttons=(Button.ACK, Button.SNOOZE, Button.REDELIVER, Button.MORE),
    condition_name="relay",
)

RELAY_DESTINATIONS = AlertKind(
    name="relay_destinations",
    raised_when="the list of systems that get copies of events changed",
    found_by="start",
    ends="reported once",
    wordings=one(Severity.WARNING, "The destinations of the relay have changed", "{changes}"),
)

RELAY_UNREADABLE = AlertKind(
    name="relay_unreadable",
    raised_when="a copy of an event for another system cannot be opened in the database",
    found_by="relay",
    ends="a person has it sent again, or it was dropped",
    wordings=one(
        Severity.WARNING,
        "{count} events for {destination} cannot be opened",
        "Countersign's keys do not open the stored copies: somebody changed them, or the key they were encrypted with"
        " is gone. Other events for {destination} continue. {destination} can read these events from the event log:"
        " {events}.",
    ),
    endings={
        "": Ending(
            "{subject}: no unreadable event is left",
            "Those that did not open were deleted, {lasted} after the alert.",
        ),
        "sent again": Ending("{subject}: the unreadable events are tried again", "{who} started it."),
        "not a destination": Ending(
            "{subject} is not a destination any more", "The events waiting for it were deleted."
        ),
    },
    buttons=(Button.ACK, Button.SNOOZE, Button.REDELIVER, Button.MORE),
)

MESSAGE_FAILED = AlertKind(
    name="message_failed",
    raised_when="a message cannot be shown as it should: Slack refuses its content, or it cannot be drawn",
    found_by="outbox",
    ends="the next message about the same thing is shown as it should be",
    wordings={
        "no layout": Wording(
            (Severity.WARNING,),
            "The message about {subject} has no buttons",
            "Slack refused its layout ({error}), so it was sent as plain text without buttons. {where} Please report"
            " this as a fault in Countersign.",
        ),
        "not drawn": Wording(
            (Severity.WARNING,),
            "The message about {subject} could not be shown",
            "Countersign failed three times to write it ({error}; the log has the cause). A short text replaces it, and"
            " other messages continue. {where} Please report this as a fault in Countersign.",
        ),
        "given up": Wording(
            (Severity.WARNING,),
            "A message about {subject} was not sent",
            "Slack refused it for good ({error}). Countersign does not try again. {where}",
        ),
    },
    endings=over("Messages are shown as they should be again", "The message about {about} is complete now."),
)

MESSAGES_WAIT = AlertKind(
    name="messages_wait",
    raised_when="Slack has not taken messages for two minutes: an outage, a token, a channel or a scope",
    found_by="outbox",
    ends="all of them were sent",
    wordings=one(
        Severity.CRITICAL,
        "{count} messages wait for Slack",
        "The oldest has waited since {since:%Y-%m-%d %H:%M} UTC. {why} Nothing is lost: each is tried again at least"
        " every two minutes.",
    ),
    endings=over("Slack takes messages again", "Some waited for up to {lasted}. All of them were sent."),
    is_mutable=False,
)

SLACK_ACCESS = AlertKind(
    name="slack_access",
    raised_when="Slack refuses something that Countersign needs: its token, a permission, a channel",
    found_by="upkeep",
    ends="Slack gives it again",
    wordings=one(
        Severity.CRITICAL,
        "Slack refuses Countersign access",
        "{faults}\nMessages and approvals that need this access wait. They continue by themselves once it is back.",
    ),
    endings=over(
        "Countersign has access to Slack again",
        "It was missing for {lasted}. Messages that waited are sent now.",
    ),
    is_mutable=False,
)


def messages_wait(count: int, since: datetime, error: str) -> Said:
    """`error`: Slack's word for why it did not take the oldest."""
    return MESSAGES_WAIT.says(count=count, since=since, why=slack_faults.explained(error))


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
    listed = ", ".join(f"{count} {cause}" for cause, count in causes.items())
    return DELIVERIES_REFUSED.says(program=program, causes=listed, now=now)
