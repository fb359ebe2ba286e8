"""What an answer proves about the call that met it, in four words: drawn from the rows of the endpoints."""

from collections.abc import Mapping
from enum import StrEnum

from bot.partner import endpoints
from bot.partner.answers import NO_ANSWER, Answer, Finding, Key
from bot.partner.endpoints import Endpoint


class Certainty(StrEnum):
    """What an error proves about the call that met it."""

    DEFINITE = "definite"  # moved nothing, key unused
    DEFINITE_KEY_SPENT = "definite_key_spent"  # moved nothing in the end; never send the key again
    AMBIGUOUS = "ambiguous"  # may or may not have happened
    TRANSIENT = "transient"  # not executed, may be sent again as it is


_OF_A_FIRST = {
    Finding.REFUSED: Certainty.DEFINITE,
    Finding.HELD: Certainty.DEFINITE,
    Finding.WAIT: Certainty.TRANSIENT,
    Finding.NOTHING_YET: Certainty.TRANSIENT,
}


def proved_by(answer: Answer) -> Certainty:
    """What a row of the table proves about its own call."""
    if answer.key is Key.SPENT:
        return Certainty.DEFINITE_KEY_SPENT
    if answer.key is Key.RELEASED:
        return Certainty.TRANSIENT
    return _OF_A_FIRST.get(answer.first, Certainty.AMBIGUOUS)


def documented(operation: Endpoint) -> Mapping[tuple[int, str], Certainty]:
    """Every (status, code) the document gives for this call, and what it proves."""
    return {pair: proved_by(answer) for pair, answer in endpoints.documented(operation).items()}


def unanswered(operation: Endpoint) -> Certainty:
    """What is known when no reliable answer came: a read moved nothing, a change is open."""
    return classify(operation, *NO_ANSWER)


def classify(operation: Endpoint, status: int | None, code: str | None) -> Certainty:
    """What this answer proves about this call; a pair the document does not give proves nothing."""
    return proved_by(endpoints.meaning(operation, status, code))
