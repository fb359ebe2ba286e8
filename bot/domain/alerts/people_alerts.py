"""The alerts about what people do here or are asked for: pauses, confirmations, shifts, delegations."""

from __future__ import annotations

from bot.domain.alerts.alert_kind import AlertKind, Button, Ending, Severity, Wording, one, over

_SECOND_PERSON = "Nothing changes before a second person confirms it, by {until:%Y-%m-%d %H:%M} UTC."

PAUSED = AlertKind(
    name="paused",
    raised_when="somebody stopped sending",
    found_by="people",
    ends="two people resume it",
    wordings=one(
        Severity.CRITICAL,
        "Sending to {program} is paused by {who}",
        "{reason}\nNothing is sent to your card provider. Requests and approvals continue; an approved request waits"
        " until its approval expires. `/countersign resume` starts sending again, confirmed by two people.",
    ),
    endings=over(
        "Sending to {program} is on again",
        "{who} confirmed it. It was paused for {lasted}. Approved requests that are still valid are sent now.",
    ),
    is_mutable=False,
    buttons=(Button.RESUME, Button.MORE),
)

STOP_NOT_RECORDED = AlertKind(
    name="stop_not_recorded",
    raised_when="somebody paused, rejected, cancelled or declined something, and the database did not take it",
    found_by="people",
    ends="it is recorded, or it is refused as too late or not allowed",
    wordings=one(
        Severity.CRITICAL,
        "Not recorded yet: {who} {deed}",
        "The database did not take it. {meanwhile} Countersign keeps trying to record it. Do not restart Countersign"
        " before it is recorded: the process that was asked keeps it in memory alone. Find out what is wrong with the"
        " database, and who can write to it: run `countersign audit verify --deep`.",
    ),
    endings={
        "": Ending(
            "Recorded: what was done to stop {subject}",
            "The database took it after {lasted}. Find out why it did not at once.",
        ),
        "not done": Ending(
            "Refused: what was done to stop {subject}",
            "The database did not take it for {lasted}. Then it was refused: {why}",
        ),
    },
    is_mutable=False,
)

CONSENT = AlertKind(
    name="consent",
    raised_when="somebody asks for a second person's confirmation: to resume sending, to switch off draft only, to"
    " name who gets codes, to add a passkey, or to end a lost one",
    found_by="people",
    ends="it is confirmed, declined, or an hour is over, a day for codes and passkeys",
    wordings={  # by the kind of what is asked for
        "resume": Wording(
            (Severity.WARNING,),
            "{who} asks to resume sending to {program}",
            "{pause} Requests that are approved and still valid are sent immediately. " + _SECOND_PERSON,
        ),
        "drafts_off": Wording(
            (Severity.WARNING,),
            "{who} asks to switch off draft only for {program}",
            "From then on, what is approved is sent to your card provider and moves money. Drafts that were approved"
            " before are not sent. " + _SECOND_PERSON,
        ),
        "code_person": Wording(
            (Severity.WARNING,),
            "{who} asks to send one-time codes of {reference} to {name}",
            "{holders} Whoever gets these codes can complete purchases with the card. {name} (Slack id {person})"
            " cannot confirm it. " + _SECOND_PERSON,
        ),
        "passkey_add": Wording(
            (Severity.WARNING,),
            "{who} asks to add a passkey: {name}",
            "{which} Ask {who} in person or by phone for the check code of the new passkey. Confirm only if it is"
            " {code}: whoever has this passkey can approve as {who}. " + _SECOND_PERSON,
        ),
        "passkey_lost": Wording(
            (Severity.WARNING,),
            "{who} reports that {name} lost their passkeys",
            "Once confirmed, no passkey of {name} (Slack id {person}) works any more. To add another, {name} needs two"
            " people to confirm it. " + _SECOND_PERSON,
        ),
    },
    asks_second_person=True,
    endings=over("{title}", "{text}"),  # the text says what came of it
    is_mutable=False,
    buttons=(Button.CONFIRM, Button.DECLINE),
    open_head="◷ To confirm",
    over_head="✓ Answered",
)

HANDOVER = AlertKind(
    name="handover",
    raised_when="a shift is handed over",
    found_by="people",
    ends="somebody else accepts it, or the next shift is handed over",
    wordings=one(Severity.WARNING, "Shift of {who}", "{note_and_what_is_open}"),
    endings={  # what was handed over stays to be read
        "": Ending("{title}", "Accepted by {who}.\n{text}"),
        "next": Ending("{title}", "Nobody accepted it. {who} handed over the next shift.\n{text}"),
    },
    is_mutable=False,
    buttons=(Button.ACCEPT,),
    open_head="⇄ Hand-over",
    over_head="✓ Taken over",
    is_document=True,
)

DELEGATION = AlertKind(
    name="delegation",
    raised_when="somebody decides in another's place from now on, or no longer",
    found_by="upkeep",
    ends="reported once",
    wordings={
        "began": Wording(
            (Severity.WARNING,),
            "A delegation began",
            "{delegation} The two count as one person: neither decides on requests of the other. This is set in"
            " countersign.toml.",
        ),
        "ended": Wording(
            (Severity.WARNING,),
            "A delegation ended",
            "It is over: {delegation} It was set in countersign.toml.",
        ),
    },
)

_EDITED_IN_SLACK = (
    "Slack says so: somebody edited the group there. If nobody of you did, type `/countersign pause`, and put the group"
    " right in Slack."
)

PEOPLE_CHANGED = AlertKind(
    name="people_changed",
    raised_when="the approvers or the admins whom Slack names are others than before",
    found_by="upkeep",
    ends="reported once",
    wordings={
        "approvers": Wording(
            (Severity.WARNING,),
            "Who may approve has changed",
            "Added: {added}. Removed: {removed}.\nApprovers now: {now}.\n" + _EDITED_IN_SLACK,
        ),
        "admins": Wording(
            (Severity.WARNING,),
            "Who the admins are has changed",
            "Added: {added}. Removed: {removed}.\nAdmins now: {now}.\n" + _EDITED_IN_SLACK,
        ),
    },
    is_mutable=False,
)

POLICY_CHANGED = AlertKind(
    name="policy_changed",
    raised_when="Countersign starts with another countersign.toml than before",
    found_by="start",
    ends="reported once",
    wordings=one(
        Severity.WARNING,
        "The policy has changed",
        "{changes}\ncountersign.toml has the fingerprint {now} now, and had {before} before. If nobody of you"
        " changed it, type `/countersign pause`.",
    ),
    is_mutable=False,
)

POLICY = AlertKind(
    name="policy",
    raised_when="the policy cannot be met by the people it names",
    found_by="upkeep",
    ends="it can",
    wordings=one(Severity.WARNING, "Nobody can approve some requests", "{problems}"),
    endings=over("All requests can be approved again", "Some could not for {lasted}."),
    is_mutable=False,
)
