"""What stops a thief, taken away piece by piece: the programme of edits has to find each hole that is open then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.services.execution import card_details_access, presend_checks
from bot.services.messages import delivery
from bot.services.operators import changed_rows
from bot.services.passkeys import proofs
from bot.services.requests import batch_approval, local_facts, signatures
from storage.log_record import SecretsOnRecord, on_record
from storage.operators import passkeys_on_record
from storage.protection import signed_rows
from storage.requests import as_on_record, decisions
from storage.sealed_columns import PROGRAM_KEY, REQUEST_BODY

Patch = Callable[[pytest.MonkeyPatch], None]


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


def _later(answer: Any) -> Callable[..., Awaitable[Any]]:
    async def say(*_: Any, **__: Any) -> Any:
        return answer

    return say


def _no_row_signatures(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(signed_rows, "is_ours", _later(True))
    patch.setattr(signed_rows, "holds", _always(True))
    patch.setattr(signed_rows, "is_signed", _later(True))


def _no_signature_and_no_age_of_links(patch: pytest.MonkeyPatch) -> None:
    _no_row_signatures(patch)
    patch.setattr(card_details_access, "APPROVAL_VALID_FOR", timedelta(days=40_000))


class _AnyAddress:
    """A key is bound to its row, and to no address."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def ref(self, name: str, version: int, _base_url: str) -> Any:
        return self._column.ref(name, version, "")


def _key_without_address(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("storage.operators.programs.PROGRAM_KEY", _AnyAddress(PROGRAM_KEY))


class _AnyRow:
    """A body is sealed for its column, and for no row."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def ref(self, *_: Any) -> Any:
        return self._column.ref("any")


def _bodies_without_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("storage.requests.requests.REQUEST_BODY", _AnyRow(REQUEST_BODY))
    patch.setattr("storage.requests.frozen.REQUEST_BODY", _AnyRow(REQUEST_BODY))
    for module in (signatures, batch_approval):
        patch.setattr(module, "has_its_body", _always(True))


def _no_mac_and_no_log(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(decisions, "is_genuine", _always(True))
    patch.setattr(decisions, "of", decisions.all_of)
    patch.setattr(on_record, "require_fits", _later(None))


def _no_mac_no_log_and_no_passkey(patch: pytest.MonkeyPatch) -> None:
    _no_mac_and_no_log(patch)
    patch.setattr(proofs, "needed_for", _always(False))


def _no_log_and_no_anchors(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(on_record, "require_fits", _later(None))
    patch.setattr(passkeys_on_record, "has_all", _always(True))
    patch.setattr(passkeys_on_record, "is_copy_in_doubt", _later(False))


#: By the name in `programme.KNOWN`: the bot without what closes that hole.
WITHOUT: dict[str, Patch] = {
    "the address of the key": _key_without_address,
    "a link of the thief": _no_signature_and_no_age_of_links,
    "who gets codes": _no_row_signatures,
    "labels of two cards swapped": lambda patch: patch.setattr(local_facts, "other_card", _always("")),
    "a pause deleted": _no_row_signatures,
    "who asked to resume changed": _no_row_signatures,
    "sealed bodies swapped": _bodies_without_rows,
    "a row of a list left out": lambda patch: patch.setattr(as_on_record, "differing", _later({})),
    "a replaced webhook secret put back": lambda patch: patch.setattr(
        SecretsOnRecord, "takes", _always(True)
    ),
    "a lease of a ghost": lambda patch: patch.setattr(
        "storage.transaction.LONGEST_LEASE", timedelta(days=40_000)
    ),
    "the link to another person": lambda patch: patch.setattr(delivery, "_is_for", _always(True)),
    "a mute rule": _no_row_signatures,
    "an approval copied with its signature": _no_mac_no_log_and_no_passkey,
    "the log is cut off before the first passkey while the bot is down": _no_log_and_no_anchors,
    "a pause put back to none": lambda patch: patch.setattr(
        changed_rows, "undo_what_was_put_back", _later([])
    ),
    "codes put back to an earlier person": lambda patch: patch.setattr(
        changed_rows, "undo_what_was_put_back", _later([])
    ),
    "one approval of two made to settle": _no_mac_and_no_log,
    "what was stopped and rejected put back": lambda patch: patch.setattr(
        on_record, "require_fits", _later(None)
    ),
    **dict.fromkeys(
        (
            "an earlier part approved long ago",
            "an earlier part deleted",
            "the newer of two deleted",
            "freezes at once requested long ago",
        ),
        lambda patch: patch.setattr(on_record, "_require_counted", _later(None)),
    ),
    "due before its time": lambda patch: patch.setattr(presend_checks, "_too_soon", _always(None)),
}
