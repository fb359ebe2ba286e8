"""What an endpoint is, and what its answers mean; the endpoints themselves stand in `calls`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.partner.answers import NO_ANSWER, Answer, Rows
from bot.partner.shapes import NOTHING_SENT, Sent, Shape

CONNECT_SECONDS = 5.0
"""A host that does not even take the connection in this time is down."""

# Time between two bytes of an answer. A change may wait for the processor behind the card provider and must
# not be given up early: giving up does not stop it, it only makes the outcome unknown. The card provider
# itself waits 20 s for the processor [GET transactions], a few tries long, so 75 s is above what a
# healthy answer can take and below what an operator would wait for.
CHANGE_READ_SECONDS = 75.0
# A switch is set by the same call again, whatever became of the last one, and somebody may be waiting for it
# in an emergency: no longer than the 20 s for which the card provider itself waits, and a margin.
SWITCH_READ_SECONDS = 25.0
# Reads of the card provider's own records answer at once or not at all, and a person may be waiting.
RECORD_READ_SECONDS = 20.0
# Reads that pass through to the processor: its 20 s and the way there and back.
LIVE_READ_SECONDS = 30.0
# A card's history is searched at the processor: up to five attempts of 20 s each with pauses between
# [GET transactions]. Whoever gives up before the card provider does makes failures of its own.
HISTORY_READ_SECONDS = 130.0

# Timeouts are per phase, and a peer that drips bytes resets the one for reading each time: the whole
# exchange has a deadline too. Beyond the read time it allows for connecting and for sending.
_DEADLINE_MARGIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of an endpoint whatever is sent to it."""

    changes: bool
    read_seconds: float

    @property
    def deadline_seconds(self) -> float:
        """How long one exchange may take in all."""
        return self.read_seconds + _DEADLINE_MARGIN_SECONDS


RECORD = Facts(changes=False, read_seconds=RECORD_READ_SECONDS)
LIVE = Facts(changes=False, read_seconds=LIVE_READ_SECONDS)
HISTORY = Facts(changes=False, read_seconds=HISTORY_READ_SECONDS)
CHANGE = Facts(changes=True, read_seconds=CHANGE_READ_SECONDS)
SWITCH = Facts(changes=True, read_seconds=SWITCH_READ_SECONDS)


@dataclass(eq=False, slots=True)
class Endpoint:
    """One endpoint: all that is known of it before anything is sent.

    `value` is its name, the method and path as the document writes them; `chapter` the document's that describes
    it; `rows` say what each of its answers means. `shape` is that of what comes under `data` of a success, where a
    list whose envelope is not shown is a plain array; `sent` what goes out.
    """

    value: str
    chapter: str = field(repr=False)
    facts: Facts = field(repr=False)
    rows: Rows = field(repr=False)
    shape: Shape = field(repr=False)
    sent: Sent = field(default=NOTHING_SENT, repr=False)

    def __str__(self) -> str:
        return self.value

    @property
    def method(self) -> str:
        """`GET`, `POST` or `PUT`."""
        return self.value.partition(" ")[0]

    @property
    def template(self) -> str:
        """The path with its placeholders, as it may stand in a log."""
        return self.value.partition(" ")[2]


def meaning(endpoint: Endpoint, status: int | None, code: str | None) -> Answer:
    """The row for this answer; for what the table does not give, that of no answer at all.

    `code` is None for words other than the card provider's own; `status` too where nothing came back.
    """
    rows = endpoint.rows
    if (status, code) in rows:
        return rows[status, code]
    # A page that says 404, or a redirect, will say so again; a success that cannot be read may pass.
    return rows[NO_ANSWER] if status in (None, 200) else replace(rows[NO_ANSWER], repeats=0)


def documented(endpoint: Endpoint) -> Mapping[tuple[int, str], Answer]:
    """Every answer the document gives for this endpoint, by status and code."""
    rows = endpoint.rows
    return {
        (pair[0], pair[1]): row for pair, row in rows.items() if pair[0] is not None and pair[1] is not None
    }
