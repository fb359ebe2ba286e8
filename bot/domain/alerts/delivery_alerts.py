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
        "Deliveries to {program} fail",
        "Your card provider could not deliver {count} of the newest events, the first of {first:%Y-%m-%d %H:%M} UTC."
        " They are read from the event log instead, later than they would come. It gives an event up after two hours."
        " 3-D Secure purchases of cards in webhook mode cannot complete meanwhile. Check that the public address"
        " reaches this bot.",
    ),
    endings={
        "": Ending(
            "Deliveries to {program} arrive again",
            "They failed for {lasted}. Every event was read from the event log meanwhile.",
        ),
        "not registered": Ending(
            "Deliveries to {program} have stopped: no webhook is registered",
            "They failed for {lasted}. Events are read from the event log.",
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
        "No delivery of {program} reaches this bot",
        "Your card provider says that it delivered its newest events, and none of them came here: the registered"
        " address belongs to another system, or something in between answers for Countersign. They are read from the"
        " event log instead. Look at `/countersign webhook` and at the address.",
    ),
    endings={
        "": Ending(
            "Deliveries to {program} reach this bot again",
            "None came here for {lasted}. Every event was read from the event log meanwhile.",
        ),
        "not registered": Ending(
            "Deliveries to {program} have stopped: no webhook is registered",
            "None came here for {lasted}. Events are read from the event log.",
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
        "Deliveries to {program} are refused",
        "In the last five minutes: {causes}. Nothing of them was stored. Our clock says {now:%Y-%m-%d %H:%M:%S} UTC."
        " Your card provider delivers what is genuine again for two hours, and the event log is read as well. After a"
        " rotation wait a minute; else compare the clock, or rotate the secret with `/countersign webhook`.",
    ),
    endings=over(
        "No delivery to {program} is refused any more",
        "Some were refused for {lasted}, and nothing of those was stored. Genuine events come again, or were read from"
        " the event log.",
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
        "Nobody has the webhook secret of {program}",
        "After {request} your card provider signs with a secret that never reached this bot: the answer with its only"
        " copy was lost, or it was made elsewhere. Deliveries are refused, and events are read from the log instead,"
        " later than they would come. Rotate the secret with `/countersign webhook`.",
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
        "An event cannot be handled",
        "Event {event} ({type}) of {program} was stored, and handling it has failed {attempts} times. It is kept and"
        " tried every hour; no money is moved by it. Look at the log for the cause, and at the card or the funding it"
        " is about in the meantime.",
    ),
    endings=over("Event {subject} was handled", "It came through {lasted} late."),
    condition_name="event",
)

RELAY_DEAD = AlertKind(
    name="relay_dead",
    raised_when="another system does not take its copies of events for a day",
    found_by="relay",
    ends="they are sent again by a person, or dropped",
    wordings=one(
        Severity.WARNING,
        "{destination} does not get its events: {count} given up",
        "They were tried for a day, and the last answer was: {error}. They are kept as long as retention.relay says, 30"
        " days if it is not set. When {destination} works again, have an approver or admin press Redeliver: each is"
        " sent with its id and its bytes as before.",
    ),
    endings={
        "": Ending("{subject} has no events waiting any more", "Some were not delivered for {lasted}."),
        "sent again": Ending(
            "{subject}: what was given up is sent again", "{who} started it, {lasted} after the alert."
        ),
        "dropped": Ending(
            "{subject}: what was given up was dropped",
            "Nobody had it sent again in time. {subject} has to read these events from the event log itself.",
        ),
        "not a destination": Ending(
            "{subject} is not a destination any more", "What was waiting for it was dropped."
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
        "What is stored of them does not open with this bot's keys: it was changed, or sealed with a key that is gone."
        " They were set aside, and the other events for {destination} continue. {destination} can read these events"
        " from the event log: {events}.",
    ),
    endings={
        "": Ending(
            "{subject}: no event is set aside any more",
            "Those that did not open were dropped, {lasted} after the alert.",
        ),
        "sent again": Ending("{subject}: what was set aside is tried again", "{who} started it."),
        "not a destination": Ending(
            "{subject} is not a destination any more", "What was waiting for it was dropped."
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
            "The message about {subject} has no layout",
            "Slack refused its layout: {error}. What it says was sent as plain text, without buttons. {where} Report"
            " this as a fault of Countersign.",
        ),
        "not drawn": Wording(
            (Severity.WARNING,),
            "The message about {subject} could not be drawn",
            "It failed three times with {error}; the log has the cause. A short text replaces it, and other messages"
            " continue. {where} Report this as a fault of Countersign.",
        ),
        "given up": Wording(
            (Severity.WARNING,),
            "A message about {subject} was not sent",
            "Slack will never take it: {error}. It was given up. {where}",
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
        "{faults}\nMessages and approvals that need it wait. They continue by themselves when Slack gives it again.",
    ),
    endings=over(
        "Slack gives Countersign access again", "It was missing for {lasted}. What waited is sent now."
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
