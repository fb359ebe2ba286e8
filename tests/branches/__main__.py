"""`python -m tests.branches`: run the tests of the rooms, and name each branch that none of them takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.branches.measuring import MEASURED, SEEN
from tests.branches.missing import missing_of

ROOT = Path(__file__).parents[2]
EXCEPTED = Path(__file__).with_name("excepted.toml")
WAITING = Path(__file__).with_name("to_be_written.txt")
#: Those of the measured rooms, and of what stands on them what takes most of the branches that those do not. As they
#: are named, all of them run, whosever turn it is: what another turn takes has its test.
TESTS = (
    "tests/unit",
    "tests/partner",
    "tests/storage",
    "tests/alerts/test_alert_catalogue.py",
    "tests/alerts/test_alert_lifecycle.py",
    "tests/alerts/test_poller_alerts.py",
    "tests/alerts/test_stopped_purchases.py",
    "tests/authorization/test_judgement.py",
    "tests/engine/test_roles.py",
    "tests/events/test_events_receiver.py",
    "tests/events/test_purchases_from_events.py",
    "tests/handlers/test_end_of_log.py",
    "tests/integration/test_two_copies_at_once.py",
    "tests/messages/test_every_view_is_on_the_page.py",
    "tests/relay/test_hostile_addresses.py",
    "tests/relay/test_relay.py",
    "tests/services/test_another_master_key.py",
    "tests/services/test_bad_input.py",
    "tests/services/test_changed_tables.py",
    "tests/services/test_counts_on_record.py",
    "tests/services/test_deep_check.py",
    "tests/services/test_draft_only.py",
    "tests/services/test_ends_on_record.py",
    "tests/services/test_every_kind.py",
    "tests/services/test_exports_after_edits.py",
    "tests/services/test_funding_stages.py",
    "tests/services/test_ghost_leases.py",
    "tests/services/test_honest_races.py",
    "tests/services/test_junk_in_the_way.py",
    "tests/services/test_key_change.py",
    "tests/services/test_last_look.py",
    "tests/services/test_limits_per_person.py",
    "tests/services/test_log_and_views.py",
    "tests/services/test_network_of_a_transfer.py",
    "tests/services/test_noes_put_back.py",
    "tests/services/test_other_outcome_tables.py",
    "tests/services/test_passkeys.py",
    "tests/services/test_passkeys_on_record.py",
    "tests/services/test_passkeys_under_attack.py",
    "tests/services/test_policy_changed_after_approval.py",
    "tests/services/test_remaining_outcome_tables.py",
    "tests/services/test_revived_secrets.py",
    "tests/services/test_rolled_back_while_running.py",
    "tests/services/test_rows_put_back.py",
    "tests/services/test_signed_again.py",
    "tests/services/test_swallowed_writes.py",
    "tests/services/test_tampering.py",
    "tests/services/test_unreadable_rows.py",
)
#: What is measured is slower.
PATIENCE = "--timeout=300"
PYTEST = (
    "-m",
    "pytest",
    "-q",
    PATIENCE,
    "-p",
    "tests.branches.plugin",
    "-p",
    "no:randomly",
    "-m",
    "not timed",
)


def main(words: list[str]) -> int:
    """Exit code 1 where a branch is not taken and not listed, or is listed and taken. `words`: other tests, and modules
    of which alone it is said what these tests do not take, what is listed included."""
    modules = [word for word in words if word.startswith(MEASURED)]
    tests = [word for word in words if word not in modules]
    with tempfile.TemporaryDirectory() as folder:
        seen = str(Path(folder) / "seen")
        processes = ("-n", str(os.cpu_count() or 1), "--dist", "loadfile")
        command = [sys.executable, *PYTEST, *processes, *(tests or TESTS)]
        ran = subprocess.run(command, cwd=ROOT, env=os.environ | {SEEN: seen}, check=False).returncode
        missing = [key for key in missing_of(seen) if not modules or key.startswith((*modules,))]
    excepted, waiting = may_stay(), to_be_written()
    untested, _ = compared(missing, [*excepted, *waiting])
    stale, written = (compared(missing, listed)[1] if not words else [] for listed in (excepted, waiting))
    for key in untested:
        print(f"no test takes: {key}")
    for key in sorted(set(missing) - set(untested)) if modules else ():
        print(f"listed, and these tests do not take it: {key}")
    for key in stale:
        print(f"listed with a reason, but a test takes it, or it is gone: {key}")
    for key in written:
        print(f"a test takes it now, or it is gone, so it can go from the list: {key}")
    with_reason = sum(key in excepted for key in missing)
    waits = len(missing) - with_reason - len(untested)
    print(
        f"{len(missing)} branches are not taken: of {with_reason} it is said why, of {waits} the test is to be written,"
        f" and {len(untested)} are not listed."
    )
    return 1 if ran or untested or stale else 0


def compared(missing: Iterable[str], listed: Iterable[str]) -> tuple[list[str], list[str]]:
    """What is missing and not listed, and what is listed and not missing."""
    found = set(missing)
    return sorted(found - set(listed)), sorted(set(listed) - found)


def may_stay(file: Path = EXCEPTED) -> Mapping[str, str]:
    """Name of a branch -> why no test has to take it."""
    return {one["branch"]: one["because"] for one in tomllib.loads(file.read_text()).get("excepted", [])}


def to_be_written(file: Path = WAITING) -> list[str]:
    """Names of the branches whose test is to be written: this list only ever becomes shorter."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
