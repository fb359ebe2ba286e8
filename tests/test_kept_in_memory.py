"""Whatever a process keeps for as long as it lives is listed here with what bounds it; nothing else may be kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from storage.database import READER_CACHE_KIB, WRITER_CACHE_KIB

ROOT = Path(__file__).parents[1]
ROOMS = ("bot", "handlers", "storage")
MAKES = {"dict", "set", "list", "defaultdict", "OrderedDict", "Counter", "deque", "LRUCache"}
#: Of tables and people as they are in files: what is made once, and values that end with their request.
A_VALUE = "a value that is made, read and dropped"
SETTINGS = "as many as the settings and the code name"
WORK = "what is under way: it is bounded by queues and ends"

# Of 20,000 cards with all its indexes, by tracemalloc.
DIRECTORY_BYTES = 17_000_000
BOUNDS: dict[str, str] = {
    "bot/config": SETTINGS,
    "bot/domain": A_VALUE,
    "bot/engine/distributed.py": WORK,
    "bot/engine/embedded.py": WORK,
    "bot/engine/rests.py": "what is due: the rest is dropped at every sweep",
    "bot/intents": A_VALUE,
    "bot/language_model.py": A_VALUE,
    "bot/metrics": "a scrape, which ends",
    "bot/operations": A_VALUE,
    "bot/outcomes": A_VALUE,
    "bot/partner/calls/__init__.py": "identities of 10,000 cards, then none",
    "bot/partner/errors.py": A_VALUE,
    "bot/partner/models": A_VALUE,
    "bot/partner/openapi": A_VALUE,
    "bot/partner/ratelimit/budget.py": "calls of one minute, 120 of a key",
    "bot/partner/ratelimit/shared.py": "places of one minute, and what is passed on with the next question",
    "bot/partner/shapes.py": SETTINGS,
    "bot/partner/wire.py": A_VALUE,
    "bot/services/alerts": A_VALUE,
    "bot/services/anchor_places.py": "places of the settings, each with the anchor that it took last",
    "bot/services/conversation/dialog.py": "one card directory of 20,000 cards",
    "bot/services/core.py": "people_kept: 1,000 people, then none; roles_noted, live, withheld: as the settings name",
    "bot/services/events/polling.py": "by program; queued_read: the cards that are queued in the database",
    "bot/services/events/webhooks.py": "by program; refused deliveries: a deque of fixed length for each",
    "bot/services/held_stops": "20 stops of each person, and pauses; of more it is said that they are not kept",
    "bot/services/measures.py": "counters by endpoint, status and kind; a reading of each program; 1,000 alerts",
    "bot/services/messages/delivery.py": "rows that are being sent or read back, removed when they are sent",
    "bot/services/messages/lanes.py": "1,000 lanes, then those alone that wait; edits of one minute",
    "bot/services/older_copies/messages_in_slack.py": A_VALUE,
    "bot/services/otp_store.py": "codes of five minutes, of which the newest 10,000",
    "bot/services/processes/ghost_leases.py": "leases of nobody, of half an hour, 10,000 at each look",
    "bot/services/processes/locks.py": "what was asked about in the last minute: programs, jobs, channels",
    "bot/services/shared_look.py": "1,000 looks, then the newer half",
    "bot/services/snapshots.py": A_VALUE,
    "bot/slack_names.py": SETTINGS,
    "bot/startup.py": SETTINGS,
    "bot/tracing.py": "a click, which ends",
    "bot/view_models": A_VALUE,
    "bot/web/connections.py": "open connections, and addresses that were refused: 1,000s, each for a minute",
    "handlers/background_tasks.py": WORK,
    "handlers/budget.py": "people who wrote in the last minutes; each with a deque of fixed length",
    "handlers/deps.py": SETTINGS,
    "handlers/guard.py": "ids of the envelopes of an hour, 5,000 at most",
    "handlers/slack_api/agent.py": SETTINGS,
    "handlers/slack_api/directory.py": "the user groups, the names in settings; who is a guest, for ten minutes",
    "handlers/slack_api/posted_messages.py": "one look of a start, which ends",
    "handlers/slack_api/publish.py": "conversations with 10,000 people, then none",
    "handlers/views": A_VALUE,
    "handlers/turns.py": "people with an event that is dispatched right now",
    "storage/audit.py": "the chain's fingerprints for passkeys, 16 bytes an entry; what one walk reads",
    "storage/events/ingest.py": "events that wait for one flush of the disk",
    "storage/log_record/counted.py": "entries while they are read: where each of their requests is, until that ends",
    "storage/log_record/open_requests.py": "calls of open requests: about one an hour of each that people leave",
    "storage/log_record/log_facts.py": "programs, people, names, cards; what was approved in two days: 15 MB of 20,000",
    "storage/protection/chain_replay.py": "one reading of the audit chain, which ends",
    "storage/set_aside/left_out.py": "500 rows that cannot be read",
    "storage/protection/unreadable_rows.py": "the tables with shapes of their own: two",
    "storage/sqlite/connections.py": "idle connections, five; rows of one statement",
    "storage/store.py": "a number for each signed row: people, programs, passkeys",
    "storage/transaction.py": "passkeys that count, a person each; callbacks of one transaction",
    "storage/vault.py": "keys by master key and purpose",
}


def _makes(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List | ast.Set):
        return not value.elts
    if not isinstance(value, ast.Call):
        return False
    made = value.func.value if isinstance(value.func, ast.Subscript) else value.func
    name = made.id if isinstance(made, ast.Name) else made.attr if isinstance(made, ast.Attribute) else ""
    return name in MAKES or "default_factory" in ast.unparse(value)


def kept() -> Iterator[str]:
    """Files with a container that begins empty and outlives a call: of a module, of an object, of a data class."""
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        objects = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        inits = [
            function
            for one in objects
            for function in one.body
            if isinstance(function, ast.FunctionDef) and function.name in ("__init__", "__post_init__")
        ]
        lines = [*tree.body, *(line for one in objects for line in one.body)]
        lines += [line for function in inits for line in ast.walk(function)]  # type: ignore[misc]
        if any(isinstance(line, ast.Assign | ast.AnnAssign) and _makes(line.value) for line in lines):
            yield path.relative_to(ROOT).as_posix()


def test_whatever_is_kept_has_a_bound() -> None:
    files = list(kept())
    known = {
        place: [file for file in files if file == place or file.startswith(f"{place}/")] for place in BOUNDS
    }
    assert set(files) == {file for found in known.values() for file in found}, "say here what bounds it"
    assert [place for place, found in known.items() if not found] == [], "nothing is kept there any more"


def test_the_caches_of_a_database_leave_room_for_the_others_within_64_mb() -> None:
    """Two connections write and four read; what else is listed above is less than 4 MB."""
    assert (2 * WRITER_CACHE_KIB + 4 * READER_CACHE_KIB) * 1024 + DIRECTORY_BYTES <= 60_000_000


def test_what_is_remembered_of_calls_has_a_bound_or_few_arguments() -> None:
    """`@cache` is for what has no arguments, or for statements by their form: flags, tables, names of conditions, and
    how many locks there are to take."""
    by_form = {
        "bot/config/file.py", "bot/intents/doubts/reports.py", "bot/operations/__init__.py",
        "handlers/views/chart_picture.py",
        "storage/cards/cards.py", "storage/events/ingest.py", "storage/master_keys.py", "storage/messages/outbox.py",
        "storage/migrate.py", "storage/operators/leases.py",
        "storage/protection/signed_rows.py", "storage/protection/unreadable_rows.py",
        "storage/requests/before_sending.py", "storage/requests/held.py",
        "storage/requests/request_search.py", "storage/requests/requests.py", "storage/upsert.py", "storage/audit.py",
    }  # fmt: skip
    found = set()
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_asked = isinstance(node, ast.FunctionDef) and (node.args.args or node.args.kwonlyargs)
            marks = node.decorator_list if is_asked and isinstance(node, ast.FunctionDef) else []
            if any(ast.unparse(mark) in ("cache", "lru_cache") for mark in marks):
                found.add(path.relative_to(ROOT).as_posix())
    assert found == by_form
