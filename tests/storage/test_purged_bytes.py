"""What is personal is never on the disk in plain, and once purged its sealed bytes are gone as well."""

import asyncio
import base64
import json
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from bot.partner.secret import Secret
from storage import audit
from storage import tables as t
from storage.events import inbox
from storage.operators import programs
from storage.requests import Draft, drafts, requests
from storage.store import Store
from tests.storage.conftest import Opener
from tests.storage.factories import NOW, request
from tests.support.databases import PostgresDatabases

KEY = "svc_live_c0ffee00CANARYkey0123456789"
PHONE = "+14155550199"
EMAIL = "canary.alice@example.com"
CODE = "CANARY-payload-70719"
CANARIES = (KEY, PHONE, EMAIL, CODE)


def _encodings(canary: str) -> dict[str, bytes]:
    """The forms in which a text may hide in a file; base64 in each of its three alignments."""
    raw = canary.encode()
    found = {"raw": raw, "hex": raw.hex().encode(), "utf-16": canary.encode("utf-16-le")}
    found["json"] = json.dumps(canary).strip('"').encode()
    for shift in range(3):
        inner = base64.b64encode(b"\0" * shift + raw)
        found[f"base64 {shift}"] = inner[4 if shift else 0 : -4]
    return found


def _leaks(files: Iterable[Path], canaries: Iterable[str]) -> list[str]:
    held = {path.name: data for path in files if (data := _content(path)) is not None}
    return [
        f"{canary} as {form} in {name}"
        for canary in canaries
        for form, wanted in _encodings(canary).items()
        for name, data in held.items()
        if wanted in data
    ]


def _content(path: Path) -> bytes | None:
    """None for a file that went since it was listed: a running server replaces some of its own."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _sqlite_files(store: Store) -> list[Path]:
    assert store.database.path is not None
    return sorted(store.database.path.parent.glob(f"{store.database.path.name}*"))


async def _work(store: Store) -> None:
    """Everything that stores something secret or personal does so once."""
    draft = Draft("d1", "UALICE", "card_order", "main", {"phone": PHONE}, "", EMAIL, False, {}, NOW)
    async with store.begin() as tx:
        await programs.put(tx, "main", base_url="https://api.example.com", key=Secret(KEY))
        await drafts.put(tx, draft)
        await requests.insert(
            tx,
            request(),
            private={"phone": PHONE, "email": EMAIL},
            body=json.dumps({"email": EMAIL}).encode(),
        )
        await inbox.receive(
            tx,
            event_id="e1",
            program="main",
            event_type="card.authorized",
            created_at=NOW,
            source="poll",
            payload=CODE.encode(),
        )
        await audit.append(tx, actor="UALICE", action="request.submitted", subject="request:R-7K3M:1")


async def test_no_secret_is_in_the_sqlite_files_in_any_form(sqlite_store: Store) -> None:
    await _work(sqlite_store)

    assert len(_sqlite_files(sqlite_store)) >= 3, "the file, its log and its index are all searched"
    assert _leaks(_sqlite_files(sqlite_store), CANARIES) == []
    await sqlite_store.checkpoint()
    assert _leaks(_sqlite_files(sqlite_store), CANARIES) == []


@pytest.mark.parametrize("form", list(_encodings("x")))
async def test_the_search_finds_a_canary_that_was_planted(sqlite_store: Store, form: str) -> None:
    planted = _encodings(EMAIL)[form].decode("latin-1").replace("\0", "~")
    async with sqlite_store.begin() as tx:
        await requests.insert(tx, request(reason=planted), private={}, body=b"")

    if form == "utf-16":  # a NUL does not go into a text column
        wanted = EMAIL.encode("utf-16-le").replace(b"\0", b"~")
        assert any(wanted in path.read_bytes() for path in _sqlite_files(sqlite_store))
    else:
        assert _leaks(_sqlite_files(sqlite_store), [EMAIL]) != []


async def test_no_secret_is_in_the_files_of_postgres(
    postgres_databases: PostgresDatabases, open_store: Opener
) -> None:
    folder = postgres_databases.data_folder()
    if folder is None:
        pytest.skip(
            "the leak search on PostgreSQL: the files of the server at TEST_POSTGRES_URL are not here"
        )
    url = postgres_databases.migrated()
    store = await open_store(url)
    await _work(store)
    async with store.begin() as tx:
        await requests.insert(tx, request("R-2222", reason="PLANTED-canary"), private={}, body=b"")
    postgres_databases.flush()

    files = _files_below(folder)

    assert _leaks(files, CANARIES) == []
    assert _leaks(files, ["PLANTED-canary"]) != []
    await store.close()
    postgres_databases.drop(url)


def test_a_file_that_goes_while_the_others_are_searched_is_passed_over(tmp_path: Path) -> None:
    gone, there = tmp_path / "gone", tmp_path / "there"
    there.write_text(f"before {PHONE} behind")

    assert _leaks([gone, there], [PHONE]) == [f"{PHONE} as {form} in there" for form in ("raw", "json")]


def _files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_purged_details_leave_no_byte_behind(sqlite_store: Store) -> None:
    store = sqlite_store
    await _work(store)
    async with store.read() as tx:
        row = (await tx.run(t.request.select())).one()
    sealed = [str(row.sealed_private), str(row.sealed_body)]
    assert all(_holds(store, text) for text in sealed), "the positive control: they are there before"

    async with store.begin() as tx:
        await requests.purge(tx, "R-7K3M")
    assert await store.checkpoint()

    assert not any(_holds(store, text) for text in sealed)
    assert not any(_holds(store, text[40:80]) for text in sealed), "nor a part of them"


async def test_without_the_checkpoint_the_log_would_still_hold_them(sqlite_store: Store) -> None:
    """Why `checkpoint` is part of purging: this fails when SQLite no longer needs it."""
    await _work(sqlite_store)
    async with sqlite_store.read() as tx:
        sealed = str((await tx.run(t.request.select())).one().sealed_private)

    async with sqlite_store.begin() as tx:
        await requests.purge(tx, "R-7K3M")

    assert _holds(sqlite_store, sealed)


async def test_a_submitted_draft_leaves_no_byte_behind(sqlite_store: Store) -> None:
    await _work(sqlite_store)
    async with sqlite_store.begin() as tx:
        sealed = str((await tx.run(t.draft.select())).one().sealed_content)
        assert await drafts.take(tx, "d1") is not None

    await sqlite_store.checkpoint()

    assert not _holds(sqlite_store, sealed[40:80])


async def test_a_reader_in_the_way_of_the_checkpoint_is_reported_and_holds_no_writer_up(
    sqlite_store: Store,
) -> None:
    """Such as an export of the audit chain, which may take minutes: deliveries and commands write meanwhile."""
    store = sqlite_store
    async with store.read() as tx:
        await requests.find(tx)
        await _note(store)
        folding = asyncio.create_task(store.checkpoint())
        slowest = 0.0
        while not folding.done():
            began = time.monotonic()
            await _note(store)
            slowest = max(slowest, time.monotonic() - began)
        assert not await folding
    assert slowest < 1
    assert store.needs_checkpoint

    assert await store.checkpoint()
    assert not store.needs_checkpoint


async def test_a_reader_that_is_soon_done_is_waited_for(sqlite_store: Store) -> None:
    store = sqlite_store
    async with store.read() as tx:
        await requests.find(tx)
        await _note(store)
        folding = asyncio.create_task(store.checkpoint())
        await asyncio.sleep(0.3)

    assert await folding


async def _note(store: Store) -> None:
    async with store.begin() as writing:
        await audit.append(writing, actor="a", action="b", subject="c")


def _holds(store: Store, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in _sqlite_files(store))
