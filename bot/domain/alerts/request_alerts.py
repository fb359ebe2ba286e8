"""The alerts of single requests: an outcome nobody knows, and what should be impossible."""

from __future__ import annotations

from bot.domain.alerts.alert_kind import AlertKind, Button, Ending, Severity, Wording, one, over

_CHECK_IT = (
    "{how} Check the card and the ledger. If somebody requested it again, it may have been paid twice."
)

UNRESOLVED = AlertKind(
    name="unresolved",
    raised_when="the outcome of a request is not known; what may have happened is said by its kind",
    found_by="execution",
    ends="the outcome is found, or two people resolve it",
    wordings=one(Severity.CRITICAL, "Outcome not known: {summary} ({request})", "{support_card}"),
    endings={
        "": Ending("{subject} {state}: {summary}", "{outcome} The outcome was not known for {lasted}."),
        "not found": Ending("{subject} has an outcome", "It was not known for {lasted}."),
    },
    is_mutable=False,
    digest_word="outcome not known",
)

COMPLETED_LATE = AlertKind(
    name="landed_late",
    raised_when="a request that was given up as failed, or that two people called failed, was executed or debited",
    found_by="upkeep",
    ends="never: acknowledge it when you are done",
    wordings={
        "": Wording((Severity.CRITICAL,), "Completed late: {summary} ({request})", _CHECK_IT),
        "contradicted": Wording(
            (Severity.CRITICAL,),
            "Called failed, but your card provider disagrees: {summary} ({request})",
            _CHECK_IT,
        ),
    },
    is_mutable=False,
    condition_name="late",
)

KEY_REUSED = AlertKind(
    name="key_reused",
    raised_when="your card provider gave an answer that should be impossible, such as a key it knows from elsewhere",
    found_by="execution",
    ends="never: acknowledge it when you are done",
    wordings=one(Severity.CRITICAL, "Unexpected answer, check it: {summary} ({request})", "{alarm}"),
    is_mutable=False,
    condition_name="alarm",
)

TAMPERED = AlertKind(
    name="tampered",
    raised_when="what is stored for a request is not what was approved",
    found_by="execution",
    ends="never: acknowledge it when you are done",
    wordings=one(
        Severity.CRITICAL,
        "{request} was changed after its approval: nothing more is sent",
        "What is stored for this request is not what was approved. Somebody may have changed the database. Keep a copy"
        " of it, and run `countersign audit verify`.",
    ),
    is_mutable=False,
)

ENDED_PUT_BACK = AlertKind(
    name="ended_put_back",
    raised_when="a request is otherwise in the database than on record, such as one that was rejected and waits again",
    found_by="people, execution, upkeep",
    ends="never: acknowledge it when you are done",
    wordings=one(
        Severity.CRITICAL,
        "{request} was changed in the database: nothing more is sent for it",
        "{request} {why}. No approval of it counts, and nothing more is sent for it. If it was sent before, money may"
        " have moved: look at the ledger, and let two people resolve it. Keep a copy of the database, run"
        " `countersign audit verify --deep`, and find out who can write to it.",
    ),
    is_mutable=False,
    condition_name="put_back",
)

CHANGED_OUTSIDE = AlertKind(
    name="changed_outside",
    raised_when="rows of the database are not as Countersign left them",
    found_by="upkeep, people",
    ends="all of them are as they were left",
    wordings={
        "rows": Wording(
            (Severity.CRITICAL,),
            "Somebody changed the database: {what}",
            "The changed rows are not used, and what they stop stays stopped. Keep a copy of the database, and run"
            " `countersign audit verify --deep`. Find out who can write to it.",
        ),
        "log": Wording(
            (Severity.CRITICAL,),
            "The audit log isn't as Countersign left it: nothing is approved or sent",
            "Either an older copy of the database was put in place while Countersign ran: a backup, a snapshot, or a"
            " standby that was behind. Then restart every process: the start begins safe mode. Or somebody changed the"
            " database. Then keep a copy of it, run `countersign audit verify --deep`, and find out who can write to"
            " it.",
        ),
    },
    endings=over(
        "The database is as Countersign left it again",
        "It was not for {lasted}. Find out who changed it.",
    ),
    is_mutable=False,
)

ROWS_SIGNED = AlertKind(
    name="rows_signed",
    raised_when="the first start of this version signs the rows of an older database",
    found_by="start",
    ends="reported once, with nothing left to do",
    wordings=one(
        Severity.WARNING,
        "The rows of an older database were signed: {rows}",
        "Countersign now trusts what the database holds about who gets one-time codes, pauses, confirmations, mute"
        " rules, links, and how far ledgers were read. This happens once. Compare `/countersign people` with what you"
        " expect.",
    ),
)

NOT_DONE_YET = AlertKind(
    name="not_done_yet",
    raised_when="a freeze was tried and has not happened: purchases still go through",
    found_by="execution",
    ends="the card reads FROZEN, or the request ends",
    wordings=one(
        Severity.CRITICAL,
        "{not_yet}: {what}",
        "{request}: {why} {next} {advice}",
    ),
    endings={
        "": Ending("{subject} has ended", "It had not happened for {lasted}."),
        "done": Ending("{done}: {what}", "{how} ({request})"),
        "not done": Ending("{request} has ended: {what}", "{how}"),
    },
    is_mutable=False,
    buttons=(Button.TRY_NOW, Button.ACK, Button.MORE),
    digest_word="emergencies that have not happened",
)

NOT_DONE = AlertKind(
    name="not_done",
    raised_when="a freeze ended without having happened: the card provider refused it, a check before it was"
    " sent did, or it was not sent in time",
    found_by="execution",
    ends="never: acknowledge it when you are done",
    wordings=one(Severity.CRITICAL, "{what} is {not_done}; Countersign stopped trying", "{how} {advice}"),
    digest_word="emergencies that failed",
)
