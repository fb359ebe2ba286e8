"""The alerts of the installation itself: its database is an older copy, or nothing would show it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.alerts.alert_kind import AlertKind, Button, Said, Severity, Wording, one, over
from bot.domain.money import exact_sum, format_usd
from bot.domain.people import APPROVAL_VALID_IN_WORDS

SAFE_MODE = AlertKind(
    name="older_copy",
    raised_when="an older copy of the database was put in place; nothing is sent meanwhile",
    found_by="start",
    ends="two people resume sending",
    wordings=one(
        Severity.CRITICAL,
        "Safe mode: the database is an older copy, so nothing is sent",
        "{since} Countersign receives events and reads the card provider, but sends nothing and takes no approval."
        " Approvals of before are void: {voided}, and what was being sent is looked up, not sent again. {found}\n"
        "`/countersign resume` leaves safe mode, confirmed by two people.",
    ),
    endings=over(
        "Safe mode is over",
        "{who} confirmed it, after {lasted}. Approvals of before stay void: request again what is still needed and"
        " is neither on the card nor among the debits that were listed.",
    ),
    is_mutable=False,
    buttons=(Button.RESUME, Button.MORE),
)


NO_ANCHORS = AlertKind(
    name="anchors_missing",
    raised_when="real money moves, and the end of the audit log is kept nowhere apart from the database",
    found_by="start",
    ends="a start with a place for it",
    wordings=one(
        Severity.WARNING,
        "A restored copy of the database may not be recognized",
        "Countersign keeps the end of its audit log nowhere apart from the database. If somebody puts a dump or a"
        " snapshot back, only the ledger and the messages in Slack can show that it is older. What left no trace in"
        " either could be done again. Use `countersign restore`, and set slack.audit_channel,"
        " COUNTERSIGN_ANCHORS_COMMAND or COUNTERSIGN_ANCHORS_FILE on another disk, then start again.",
    ),
    endings=over(
        "The end of the audit log is kept apart from the database", "It was kept nowhere for {lasted}."
    ),
)


_PUT_IT_BACK = (
    " Keep a copy of the database, put the row back as it is in a backup, and run `countersign audit verify --deep`."
    " Find out who can write to the database."
)
_UNREADABLE_REQUEST = "{request} can't be read: somebody changed the database"
_ITS_CELL = (
    "Its row {row} of the table {table} holds something in the column {column} that Countersign didn't write. From now"
    " on Countersign does nothing for {request}: it sends nothing, and nobody can decide about it. Everything else"
    " continues, but an approval is refused where a limit or a tier counts this request with it. "
)

UNREADABLE_ROW = AlertKind(
    name="unreadable_row",
    raised_when="a row of the database holds what Countersign did not write and cannot read",
    found_by="start, upkeep",
    ends="the row can be read again, or is gone",
    wordings={
        "unsent": Wording(
            (Severity.CRITICAL,),
            _UNREADABLE_REQUEST,
            f"{_ITS_CELL}By the audit log it was not sent from this database, so no money has moved by it here."
            f"{_PUT_IT_BACK}",
        ),
        "sent": Wording(
            (Severity.CRITICAL,),
            _UNREADABLE_REQUEST,
            f"{_ITS_CELL}It may have been sent, so money may have moved: check the card and the ledger before you"
            f" request it again.{_PUT_IT_BACK}",
        ),
        "over": Wording(
            (Severity.CRITICAL,),
            _UNREADABLE_REQUEST,
            f"{_ITS_CELL}By the audit log it is over, or was never here: nothing more was to be sent for it. What it"
            f" sent before is in the ledger.{_PUT_IT_BACK}",
        ),
        "row": Wording(
            (Severity.CRITICAL,),
            "A row of the database can't be read: {table}, {row}",
            "Its column {column} holds something that Countersign didn't write. Countersign works as if this row"
            " weren't there, and everything else continues. The row moves no money by itself, and nothing is sent by"
            f" it.{_PUT_IT_BACK}",
        ),
        "many": Wording(
            (Severity.CRITICAL,),
            "{count} more rows of the database can't be read",
            "The first of them: {named}. Countersign works as if these rows weren't there; requests among them are not"
            " sent. Keep a copy of the database and find out who changed it. To have so many right again, restore a"
            " backup: see the runbook.",
        ),
        "pause": Wording(
            (Severity.CRITICAL,),
            "A pause can't be read: {row}",
            "The column {column} of its row in the table {table} holds something that Countersign didn't write. It"
            " counts as a pause: nothing is sent to {row}. Find out who changed the database; then two approvers or"
            " admins type `/countersign resume {row}`, which takes the row out.",
        ),
        "needed": Wording(
            (Severity.CRITICAL,),
            "A row that Countersign needs can't be read: {table}, {row}",
            "Its column {column} holds something that Countersign didn't write. What needs this row stands still, so"
            " nothing is sent by it, and Countersign doesn't start again until it is put right. No money has moved by"
            f" it.{_PUT_IT_BACK}",
        ),
    },
    endings=over("Over: {title}", "It could not be read for {lasted}. Find out who changed it."),
    is_mutable=False,
)


LEDGER_UNSEEN = AlertKind(
    name="ledger_unseen",
    raised_when="a ledger could not be read since a start; sending waits for it, for ten minutes",
    found_by="start",
    ends="the ledger is read",
    wordings={
        "held": Wording(
            (Severity.WARNING,),
            "Sending waits: the ledger of {program} could not be read since the start",
            "After each start Countersign looks in each ledger for debits that this database does not know. Until then"
            " approved requests of every program wait, ten minutes at most; freezes are sent. A restart begins the ten"
            " minutes again,"
            f" and an approval is valid for {APPROVAL_VALID_IN_WORDS}."
            " The last try said: {error}",
        ),
        "sends": Wording(
            (Severity.WARNING,),
            "The ledger of {program} could not be read since the start",
            "Countersign waited ten minutes and now sends approved requests again. After each start it looks in the"
            " ledger for debits that this database does not know, and it could not do that. If somebody put an older"
            " copy of the database in place, pause {program} with `/countersign pause`. The last try said: {error}",
        ),
        "others": Wording(
            (Severity.WARNING,),
            "A process could not read the ledger of {program} since its start",
            "Approved requests are sent by another process, which has read it. Look for what keeps this one from it. If"
            " the others end, requests wait for it, ten minutes after its start at most."
            " The last try said: {error}",
        ),
    },
    endings=over("The ledger of {program} is read", "It could not be read for {lasted}."),
)

SLACK_UNSEEN = AlertKind(
    name="slack_unseen",
    raised_when="the messages in Slack could not be read since a start; sending waits for it, for ten minutes, unless"
    " Countersign has no access to them",
    found_by="start",
    ends="the messages are read",
    wordings={
        "held": Wording(
            (Severity.WARNING,),
            "Sending waits: the messages in Slack could not be read since the start",
            "After each start Countersign looks in its channels for messages that this database does not know."
            " Until then approved requests wait, ten minutes at most; freezes are sent. A restart begins the ten"
            " minutes again,"
            f" and an approval is valid for {APPROVAL_VALID_IN_WORDS}."
            " {error}",
        ),
        "sends": Wording(
            (Severity.WARNING,),
            "The messages in Slack could not be read since the start",
            "Countersign sends approved requests all the same. After each start it looks in its channels for"
            " messages that this database does not know, and it could not do that. If somebody put an older copy of"
            " the database in place, pause sending with `/countersign pause`. {error}",
        ),
        "others": Wording(
            (Severity.WARNING,),
            "A process could not read the messages in Slack since its start",
            "Approved requests are sent by another process, which has read them. Look for what keeps this one from"
            " them. If the others end, requests wait for it, ten minutes after its start at most. {error}",
        ),
    },
    endings=over("The messages in Slack are read", "They could not be read for {lasted}."),
)


SLACK_NOT_ALL_SEEN = AlertKind(
    name="slack_not_all_seen",
    raised_when="people wrote so much in a channel of Countersign that a start could not look through all of it",
    found_by="start",
    ends="a start that can",
    wordings=one(
        Severity.WARNING,
        "Not all messages in Slack were looked through since the start",
        "After each start Countersign looks for messages of its own that this database does not know. In {where} people"
        " wrote more than 2,000 messages since its last one, and what is before those was not looked at. If somebody"
        " put an older copy of the database in place, pause sending with `/countersign pause`.",
    ),
    endings=over("The messages in Slack were looked through", "A start could not do that for {lasted}."),
)


REQUESTS_UNSEEN = AlertKind(
    name="requests_unseen",
    raised_when="the message of a request that is approved or under way was not seen in Slack at a start, or is not"
    " there as far as the database knows; nothing more of it is sent",
    found_by="start",
    ends="the messages are read, or the requests have ended",
    wordings=one(
        Severity.WARNING,
        "{count} not sent, as Slack did not show what became of it",
        "A request's message shows what became of it, such as that somebody stopped it. Without it Countersign does not"
        " know whether its database is an older copy from before that. {found} Nothing more of them is sent from this"
        " database. What was sent before is looked up all the same. If one is still needed, make sure that nobody"
        " stopped it. Then stop it and request it again. What is only not readable is sent once it was read.",
    ),
    endings=over("No request waits for its message in Slack any more", "Some waited for {lasted}."),
)


NEW_DATABASE = AlertKind(
    name="new_database",
    raised_when="a start with a new database finds messages that this app posted from another one",
    found_by="start",
    ends="reported once",
    wordings=one(
        Severity.WARNING,
        "This database is new, and Countersign posted here before",
        "The older messages in {where} are from another database of Countersign. Nothing of that one is known here:"
        " requests, approvals, limits used, pauses. If it is another installation, or was left on purpose, there is"
        " nothing to do. If it was lost, pause sending with `/countersign pause` and put its newest backup in place"
        " with `countersign restore`.",
    ),
)


def safe_mode(
    *,
    head_seq: int,
    head_at: datetime | None,
    anchor_seq: int,
    anchor_at: datetime | None,
    voided: int,
    orphans: Sequence[Decimal] | None,
    unsent: Sequence[Decimal] = (),
    is_new: bool = False,
) -> Said:
    """`is_new`: the database has another name than the one that it replaces, so it knows none of its keys.
    `orphans`: what each debit found so far took from the float, in USD, with no request for it; None while the
    ledger is being read. `unsent`: the same of requests that are here as not carried out."""
    ends = f"It ends at entry {head_seq:,}{_of(head_at)}."
    if anchor_seq > head_seq:
        since = f"{ends} The newest one known is {anchor_seq:,}{_of(anchor_at)}."
    else:
        since = f"{ends} What was done after that is not known here."
    return SAFE_MODE.says(since=since, voided=_requests(voided), found=_found(orphans, unsent, is_new=is_new))


def _of(at: datetime | None) -> str:
    return "" if at is None else f" of {at:%Y-%m-%d %H:%M} UTC"


_COUNTED = " For 24 hours they count towards everybody's limits, as nobody knows here who requested them."
_COUNTED_ALONE = " For 24 hours they count towards the limits."
_ELSEWHERE = " Debits made elsewhere have an alert of their own."


def _requests(count: int) -> str:
    return "1 request was cancelled" if count == 1 else f"{count:,} requests were cancelled"


def _found(orphans: Sequence[Decimal] | None, unsent: Sequence[Decimal], *, is_new: bool) -> str:
    if is_new and not orphans and not unsent:
        return (
            "This database is a new one, which cannot tell the debits of the one before it from those made elsewhere:"
            " it has lost all requests and limits used. Do not resume; put the newest backup in place with"
            f" `countersign restore`.{_ELSEWHERE}"
        )
    if orphans is None:
        return "The ledger is being read for debits that this copy does not know."
    if not orphans and not unsent:
        return f"The whole ledger was read: this copy knows every debit that Countersign made.{_ELSEWHERE}"
    found = f"The whole ledger was read: {of_lost(orphans, unsent, 'this copy', bold='*')}. The thread lists them."
    return f"{found}{_COUNTED if orphans else _COUNTED_ALONE}{_ELSEWHERE}"


def of_lost(orphans: Sequence[Decimal], unsent: Sequence[Decimal], copy: str, *, bold: str = "") -> str:
    """`2 debits of 9.00 USD in all are not known to this copy`, and those of requests it has as not carried out."""
    found = []
    if orphans:
        found.append(f"*{of_orphans(orphans)} not known to {copy}")
    if unsent:
        found.append(f"*{of_orphans(unsent)} of requests that {copy} has as not carried out")
    return " and ".join(found).replace("*", bold)


def of_orphans(amounts_usd: Sequence[Decimal]) -> str:
    """`2 debits of 9.00 USD in all* are`; what came back to the float or moved nothing is said apart, as it is no
    debit."""
    debits, back = [usd for usd in amounts_usd if usd < 0], [usd for usd in amounts_usd if usd > 0]
    none = len(amounts_usd) - len(debits) - len(back)
    found = []
    if debits or not none:
        many = "1 debit" if len(debits) == 1 else f"{len(debits):,} debits"
        found.append(f"{many} of {format_usd(-exact_sum(debits))} in all*")
    if none:
        found.append(f"{none:,} {'row' if none == 1 else 'rows'} that moved no money{'' if debits else '*'}")
    if back:
        times = "1 row that gave" if len(back) == 1 else f"{len(back):,} rows that gave"
        found.append(f"{times} {format_usd(exact_sum(back))} back to the float")
    return f"{' and '.join(found)} are"
