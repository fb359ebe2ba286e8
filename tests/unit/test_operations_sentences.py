"""Every code of the API document as a sentence: what happened, whether money moved, what to do next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot import operations
from bot.operations import Operation
from bot.outcomes import Finding
from bot.partner.calls import cards as card_calls
from bot.partner.certainty import Certainty, documented
from bot.partner.client import ENDPOINTS
from bot.partner.endpoints import Endpoint
from bot.partner.errors import CLASSES, NoAnswer, NotConnected, PartnerError

VALUES = {
    "card": "card1",
    "amount_usd": "50.00",
    "card_holder_name": "NORA QUIST",
    "phone_country_code": "46",
    "phone": "701234567",
    "email": "nora@example.com",
    "tx_hash": "0x" + "ab" * 32,
    "network": "POLYGON",
    "last4": "4242",
    "daily_limit": "120.00",
    "program_enabled": "yes",
    "markup_percent": "2.5",
    "event_id": "event1",
    "asset": "USDC",
    "chain": "POLYGON",
    "url": "https://countersign.example.com/webhooks/main",
}
# Never said where it is not proved, and never at all. Source: the words of the hazard list.
_NEVER = ("revoked key", "try again", "key revoked", "funded")


# What an answer proves by itself, where nothing came before it.
_KNOWN = frozenset({Finding.REFUSED, Finding.WAIT, Finding.HELD, Finding.NOTHING_YET})


def built() -> dict[str, type[Operation]]:
    return {kind: cls for kind, cls in operations.kinds().items() if cls.endpoint.facts.changes}


def made(cls: type[Operation]) -> Operation:
    names = {field.name for field in cls.fields}
    texts = {name: text for name, text in VALUES.items() if name in names}
    return cls.of_stored(texts, "NORA QUIST ••4242", private=texts)


def answers(endpoint: Endpoint) -> Iterator[PartnerError]:
    """Every error this call may meet: each code the document gives, no answer, no connection."""
    for (status, code), certainty in documented(endpoint).items():
        yield CLASSES[code](
            "Because.", operation=endpoint, certainty=certainty, status=status, code=code, retry_after=None
        )
    yield NoAnswer("timeout", operation=endpoint, certainty=Certainty.AMBIGUOUS)
    yield NotConnected("refused", operation=endpoint, certainty=Certainty.TRANSIENT)


def came_back(error: PartnerError) -> bool:
    """Refused with the key spent: a top-up was debited before the processor refused, and refunded [POST topup]."""
    return error.operation is card_calls.TOP_UP and (error.status, error.code) in (
        (400, "BAD_REQUEST"),
        (409, "QUOTA"),
    )


CASES = [
    pytest.param(
        kind, error, unknown, id=f"{kind} {error.status or type(error).__name__} {error.code or ''} {when}"
    )
    for kind, cls in built().items()
    for error in answers(cls.endpoint)
    for unknown, when in ((False, "first"), (True, "after unknown"))
]


@pytest.mark.parametrize(("kind", "error", "unknown"), CASES)
def test_every_code_says_what_happened_whether_money_moved_and_what_comes_next(
    kind: str, error: PartnerError, unknown: bool
) -> None:
    operation = made(built()[kind])
    judged = operation.judge(error, outcome_unknown=unknown)
    outcome = operation.in_its_words(judged, in_doubt=unknown)

    said = outcome.text
    sentences = said.count(". ") + said.endswith(".")
    assert sentences >= 2, said
    assert not any(word in said.lower() for word in _NEVER), said
    assert outcome.cause
    assert outcome.cause in said, "what happened"
    urgency = operation.handling.urgency
    if urgency is not None:
        assert urgency.meanwhile in said or urgency.perhaps in said
        assert (urgency.meanwhile in said) == (not unknown and outcome.finding in _KNOWN)
        assert not any(word in said.lower() for word in ("moved", "money", "float", "do not repeat")), said
    elif outcome.finding is Finding.REFUSED:
        assert not unknown or isinstance(error, NotConnected), (
            f"a refusal decided after an unknown attempt: {said}"
        )
        nothing = "Nothing moved." if operation.moves_money else "Nothing was changed."
        money = "No money left the float, or it came back." if came_back(error) else nothing
        assert money in said
        assert said != f"{outcome.cause} {money}", f"no next step: {said}"
    elif unknown or outcome.finding in (Finding.UNKNOWN, Finding.UNRESOLVED, Finding.EVIDENCE):
        assert "do not repeat this" in said, said
        assert "Nothing moved" not in said, said
        assert "Nothing has moved" not in said, said
    else:
        assert outcome.finding in (Finding.WAIT, Finding.HELD, Finding.NOTHING_YET)
        assert "Nothing" in said
        assert "again" in said
    assert "svc_live" not in said


# What may have happened while nobody knows: which money may have moved, by the kinds that move any.
_MAY_HAVE = {
    "card_topup": ("left the float",),
    "card_unload": ("left the card",),
    "card_close": ("closed", "on the float"),
    "card_order": ("card may have been made",),
}


@pytest.mark.parametrize("kind", built())
def test_what_may_have_happened_is_said_as_it_is_of_that_kind(kind: str) -> None:
    """A freeze takes nothing off the float, and an unload takes it off the card."""
    said = [
        made(built()[kind]).judge(error, outcome_unknown=unknown).text
        for error in answers(built()[kind].endpoint)
        for unknown in (False, True)
    ]
    said.append(built()[kind].may_have)

    for words in _MAY_HAVE.get(kind, ("no money moves",)):
        assert words in said[-1]
    if kind != "card_topup":
        assert not any("left the float" in text for text in said)
    assert all(
        built()[kind].may_have in text
        for text in said
        if "Countersign checks it with your card provider" in text
    )


def test_no_kind_that_calls_is_left_out() -> None:
    changes = {endpoint for endpoint in ENDPOINTS if endpoint.facts.changes}
    assert {cls.endpoint for cls in built().values()} == changes
    assert set(operations.kinds()) - set(built()) == {"card_reveal"}


# What the document leaves open is taken at its worst by the client; here the tables of the outcome guide hold.
_WORSE = {
    (card_calls.TOP_UP, 502): "unresolved at once",
    (card_calls.TOP_UP, 503): "refunded, so the ledger has to show it",
    (card_calls.ORDER_CARD, 502): "the key is released, and the same key is sent again",
}


@pytest.mark.parametrize(("kind", "error", "unknown"), CASES)
def test_no_answer_of_the_document_is_left_unclassified(
    kind: str, error: PartnerError, unknown: bool
) -> None:
    """A first refusal that proves that nothing moved ends it; whatever proves nothing never does."""
    finding = made(built()[kind]).judge(error, outcome_unknown=unknown).finding
    endpoint = built()[kind].endpoint
    if unknown or error.status is None or (endpoint, error.status) in _WORSE:
        return
    may_end = {Finding.REFUSED, Finding.HELD}
    if error.certainty in (Certainty.DEFINITE, Certainty.DEFINITE_KEY_SPENT):
        assert finding in may_end, f"{endpoint}: {finding}"
    elif error.certainty is Certainty.TRANSIENT:
        assert finding in (Finding.WAIT, Finding.NOTHING_YET), f"{endpoint}: {finding}"
    else:
        assert finding in (Finding.UNKNOWN, Finding.UNRESOLVED, Finding.EVIDENCE), f"{endpoint}: {finding}"


def test_the_walk_meets_every_code_of_the_document_that_a_change_of_ours_can_meet() -> None:
    met = {error.code for cls in built().values() for error in answers(cls.endpoint)}
    assert met - {None} == set(CLASSES)
