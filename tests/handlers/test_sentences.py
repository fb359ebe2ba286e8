"""Every error has a sentence: what happened, whether money moved, what to do next."""

from typing import TypeVar

import pytest

from bot.domain import errors as domain
from bot.domain.process_roles import UnknownRole
from bot.partner import errors as partner
from bot.partner.calls import account as account_calls
from bot.partner.certainty import Certainty
from handlers.views import replies
from storage.errors import LogNotWhole, NotAsOnRecord, StorageError, Unreadable
from storage.set_aside import UnreadableRow

E = TypeVar("E", bound=BaseException)


def every(cls: type[E]) -> list[type[E]]:
    """The class and all below it, by name."""
    found = {cls}
    for child in cls.__subclasses__():
        found |= set(every(child))
    return sorted(found, key=lambda c: c.__name__)


def made(cls: type[BaseException]) -> BaseException:
    if cls is domain.OwnRequest:
        return domain.OwnRequest()
    if cls is domain.InvalidInput:
        return domain.InvalidInput("amount_usd", "Too much.")
    if cls is domain.InvalidFields:
        return domain.InvalidFields({"amount_usd": "Too much."})
    if cls is domain.IllegalTransition:
        return domain.IllegalTransition("pending", "claim")
    if cls is domain.PasskeyNeeded:
        return domain.PasskeyNeeded("approve", "R-1")
    if cls is LogNotWhole:
        return LogNotWhole(39, "hash")
    if cls is Unreadable:
        return Unreadable(UnreadableRow("request", "terms", (b"R-7K3M",)))
    if issubclass(cls, NotAsOnRecord):
        return cls("R-7K3M", "is cancelled by the audit log")
    return cls("What is wrong.")


@pytest.mark.parametrize("code", sorted(partner.CLASSES))
def test_every_code_of_the_api_has_its_sentence_and_says_that_nothing_happened(code: str) -> None:
    error = partner.CLASSES[code](
        "secret detail", operation=account_calls.ME, certainty=Certainty.DEFINITE, status=400, code=code
    )

    said = replies.explain(error, "REF")

    assert "Nothing was recorded or sent." in said
    assert "secret detail" not in said
    assert "usable answer" not in said


@pytest.mark.parametrize("cls", every(partner.PartnerError))
def test_every_failure_to_reach_the_api_has_a_sentence(cls: type[partner.PartnerError]) -> None:
    error = cls("why", operation=account_calls.ME, certainty=Certainty.TRANSIENT)

    assert "Nothing was recorded or sent." in replies.explain(error)


# Those of other modules never reach Slack: the start, and the page of card details.
IN_SLACK = [
    cls
    for cls in every(domain.CountersignError)
    if cls.__module__.startswith(("bot.domain", "storage", "handlers")) and cls is not UnknownRole
]


@pytest.mark.parametrize("cls", IN_SLACK)
def test_every_refusal_is_said_as_it_is_and_our_faults_with_their_reference(cls: type[BaseException]) -> None:
    error = made(cls)
    said = replies.explain(error, "7K3MQX")

    if cls in (domain.CountersignError, domain.IllegalTransition) or issubclass(cls, StorageError):
        assert "7K3MQX" in said
        assert "What is wrong" not in said
        assert "before you do it again" in said
    else:
        assert said == str(error)


def test_a_fault_of_ours_says_what_to_look_at_and_its_reference() -> None:
    said = replies.explain(RuntimeError("phone 15112345678"), "7K3MQX")

    assert "7K3MQX" in said
    assert "/requests" in said
    assert "151" not in said
