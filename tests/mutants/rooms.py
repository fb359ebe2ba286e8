"""Which tests belong to which module: the room that has to notice when something in it changes.

The tests of a room are quick, as all of them run for every mutant. A module is added with one line.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[2]

_PEOPLE = (
    "tests/unit/test_domain_policy.py",
    "tests/unit/test_delegation.py",
    "tests/unit/test_mailboxes.py",
    "tests/unit/test_visibility.py",
    "tests/unit/test_domain_approvals.py",
    "tests/unit/test_actors.py",
    "tests/authorization/test_judgement.py",
)
_REQUESTS = (
    "tests/unit/test_domain_approvals.py",
    "tests/unit/test_money_of_a_failure.py",
    "tests/unit/test_domain_requests.py",
    "tests/unit/test_request_digest.py",
    "tests/unit/test_delegation.py",
    "tests/authorization/test_judgement.py",
)
_OUTCOMES = (
    "tests/unit/test_outcomes_judged.py",
    "tests/unit/test_outcomes_planning.py",
    "tests/unit/test_outcomes_timing.py",
    "tests/unit/test_outcome_effects.py",
)
_AUDIT = ("tests/storage/test_audit_chain.py",)
_MONEY = ("tests/unit/test_money.py", "tests/unit/test_csv_lines.py")

#: Module, as its file -> the tests that hold it.
CORE: dict[str, tuple[str, ...]] = {
    "bot/domain/people/policy.py": _PEOPLE,
    "bot/domain/people/actors.py": _PEOPLE,
    "bot/domain/people/delegation.py": _PEOPLE,
    "bot/domain/people/one_person.py": _PEOPLE,
    "bot/domain/visibility.py": _PEOPLE,
    "bot/domain/requests/approvals.py": _REQUESTS,
    "bot/domain/requests/lifecycle.py": _REQUESTS,
    "bot/domain/requests/terms.py": _REQUESTS,
    "bot/domain/limits.py": ("tests/unit/test_domain_limits.py",),
    "bot/outcomes/planning.py": _OUTCOMES,
    "bot/outcomes/effects.py": _OUTCOMES,
    "bot/outcomes/timing.py": _OUTCOMES,
    "bot/partner/webhooks.py": ("tests/partner/test_webhooks.py", "tests/partner/test_typed_events.py"),
    "bot/partner/certainty.py": ("tests/partner/test_errors.py",),
    "storage/vault.py": ("tests/storage/test_vault.py",),
    "storage/audit.py": _AUDIT,
    "bot/domain/sentences.py": ("tests/unit/test_domain_sentences.py", "tests/handlers/test_hostile_text.py"),
    "handlers/views/blocks.py": ("tests/unit/test_blocks.py", "tests/handlers/test_hostile_text.py"),
    "bot/domain/money/csv_export.py": _MONEY,
    "bot/domain/money/amounts.py": _MONEY,
    "bot/domain/requests/batch_csv.py": ("tests/unit/test_bulk_csv.py",),
}

#: In the functions of these every mutant was run, and none survives but those listed as equivalent: `make test` draws
#: its sample here.
HELD = (
    "bot/domain/people/delegation.py",
    "bot/domain/visibility.py",
    "bot/domain/requests/lifecycle.py",
    "bot/domain/limits.py",
    "bot/outcomes/planning.py",
)


def module_name(path: str) -> str:
    """`bot/domain/limits.py` as Python imports it."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def room_of(path: str) -> list[str]:
    """The test files of this module's room."""
    return [test for test in CORE[path] if (ROOT / test).exists()]


def fingerprint(path: str) -> str:
    """What a result depends on: the module and the tests of its room."""
    parts = [(ROOT / one).read_bytes() for one in (path, *room_of(path))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
