"""What may be sent to Slack by way of the outbox: one table, a row for each kind of message.

A row says what the message is about, where it goes, what its stored row holds, and which view model is drawn. Who
writes a stored row (`bot.services.outbox_messages`), reads it (`view_model_loader`), delivers it (`delivery`) and
draws it (`handlers.slack_api.publish`) goes by this table, so none of them takes a stored text apart by itself.

Databases hold rows with these texts: what is stored for a kind never changes, or rows on their way get lost.

To add a message: a row in `MESSAGES` with the view model it shows, in `view_model_loader` how that is read, and in
`handlers.slack_api.publish` the view that draws it. A test walks the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any

from bot.domain.requests import results_name
from bot.view_models import (
    AlertChartView,
    AlertLineView,
    AlertView,
    AnchorView,
    DigestView,
    DirectView,
    LineView,
    LinkView,
    RequestView,
    ResultsView,
)


class About(StrEnum):
    """What a message is about, as the stored text of a subject begins."""

    REQUEST = "request"
    NOTICE = "notice"  # of a request, to its requester alone
    DETAILS_LINK = "reveal"
    ALERT = "alert"
    DIGEST = "digest"
    ANCHOR = "anchor"


#: The text kept in the database for what a message is about, such as `request:R-7K3M`.
stored_subject: Callable[[About, str], str] = "{0.value}:{1}".format


@dataclass(frozen=True, slots=True)
class Subject:
    """The one thing a message is about: a request, an alert, the digest of a day. `id` is never empty."""

    about: About
    id: str

    def stored(self) -> str:
        """The text kept in the database: see `stored_subject`."""
        return stored_subject(self.about, self.id)

    @classmethod
    def read(cls, stored: str) -> Subject:
        """From the text kept in the database. Raises ValueError for one that was never written here."""
        about, _, id_ = stored.partition(":")
        if not id_:
            raise ValueError(f"{stored!r} names no subject")
        return cls(About(about), id_)


class To(Enum):
    """Where a message goes: one of the channels of the configuration, or a person's direct messages."""

    APPROVALS = "approvals"
    ALERTS = "alerts"
    AUDIT = "audit"
    PERSON = "person"


class Form(StrEnum):
    """How a message appears, as the stored row names it: a card or an alert is one message that is edited in
    place, a line is posted in the thread of its subject, anything else is posted once."""

    CARD = "card"
    ALERT = "alert"
    LINE = "line"
    DIRECT = "direct"


#: One message for each subject, redrawn; everything else is posted once.
EDITED_IN_PLACE = frozenset({Form.CARD, Form.ALERT})
_THREAD_OF = {About.REQUEST: Form.CARD, About.NOTICE: Form.CARD, About.ALERT: Form.ALERT}


@dataclass(frozen=True, slots=True)
class MessageKind:
    """One kind of message.

    `dedupe` begins the key by which a message is known again; `body` names the fields of the stored row's body.
    `line` is the value of the body's field `line` that tells this kind from others about the same subject in the
    same form; None where any other value, or none, is this kind. `file_name` makes the name of the posted file
    from the subject's id, for a message that is a file.
    """

    about: About
    form: Form
    to: To
    dedupe: str
    shows: type[Any]
    body: tuple[str, ...] = ()
    line: str | None = None
    file_name: Callable[[str], str] | None = None

    @property
    def place(self) -> str | None:
        """The form of the message that this one edits or in whose thread it goes; None for a message of its own."""
        if self.form is Form.LINE:
            return _THREAD_OF[self.about].value
        return self.form.value if self.form in EDITED_IN_PLACE else None


def chart_name(alert_id: str) -> str:
    """The name of the file with an alert's chart, by which it is known again in Slack."""
    return f"{alert_id}-float.png"


# fmt: off
REQUEST_CARD = MessageKind(
    About.REQUEST, Form.CARD, To.APPROVALS, "card", RequestView)
REQUEST_LINE = MessageKind(
    About.REQUEST, Form.LINE, To.APPROVALS, "line", LineView, ("line", "actor", "text", "version"))
BATCH_RESULTS = MessageKind(
    About.REQUEST, Form.LINE, To.APPROVALS, "results", ResultsView, ("line",), "results", results_name)
REQUESTER_NOTICE = MessageKind(
    About.NOTICE, Form.CARD, To.PERSON, "notice", DirectView, ("actor",))
REQUESTER_LINE = MessageKind(
    About.NOTICE, Form.LINE, To.PERSON, "notice_line", LineView, ("line", "actor", "text", "version"))
# Written until there was one direct message for each request; read for the rows that are still on their way.
NOTICE_OF_ONE_CHANGE = MessageKind(
    About.REQUEST, Form.DIRECT, To.PERSON, "direct", DirectView, ("actor",))
DETAILS_LINK = MessageKind(
    About.DETAILS_LINK, Form.DIRECT, To.PERSON, "reveal", LinkView)
ALERT = MessageKind(
    About.ALERT, Form.ALERT, To.ALERTS, "alert", AlertView)
ALERT_LINE = MessageKind(
    About.ALERT, Form.LINE, To.ALERTS, "alert", AlertLineView, ("actor", "text", "mentions"))
ALERT_CHART = MessageKind(
    About.ALERT, Form.LINE, To.ALERTS, "chart", AlertChartView, ("line",), "chart", chart_name)
DIGEST = MessageKind(
    About.DIGEST, Form.DIRECT, To.ALERTS, "digest", DigestView)
AUDIT_ANCHOR = MessageKind(
    About.ANCHOR, Form.DIRECT, To.AUDIT, "anchor", AnchorView, ("line", "seq"))
# fmt: on

MESSAGES = (
    REQUEST_CARD,
    REQUEST_LINE,
    BATCH_RESULTS,
    REQUESTER_NOTICE,
    REQUESTER_LINE,
    NOTICE_OF_ONE_CHANGE,
    DETAILS_LINK,
    ALERT,
    ALERT_LINE,
    ALERT_CHART,
    DIGEST,
    AUDIT_ANCHOR,
)


def kind_of(form: str, subject: str, body: Mapping[str, Any]) -> MessageKind | None:
    """The kind of a stored row; None for a row that this version does not know."""
    about = subject.partition(":")[0]
    alike = [kind for kind in MESSAGES if (kind.form, kind.about) == (form, about)]
    named = [kind for kind in alike if kind.line is not None and kind.line == body.get("line")]
    return next(iter(named or [kind for kind in alike if kind.line is None]), None)


def file_of(dedupe: str) -> str | None:
    """The name of the file that the message with this key is; None for a message that is none."""
    begin, _, rest = dedupe.partition(":")
    for kind in MESSAGES:
        if kind.file_name is not None and kind.dedupe == begin:
            return kind.file_name(rest.partition(":")[0])
    return None
