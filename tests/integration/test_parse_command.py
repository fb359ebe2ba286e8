"""`countersign parse` as a script uses it: one JSON object a line, sentences for mistakes."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.cli.parse import parse_command, read_directory
from bot.cli.terminal import Mistake
from bot.domain.cards import CardEntry
from bot.domain.time import SystemClock
from storage.cards import cards
from storage.messages import unread_texts
from storage.migrate import migrate
from storage.store import Store
from storage.vault import Keyring, Vault, new_master

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / "tests" / "intents" / "utterances" / "directory.json"


def run(*words: str, given: str = "", code: int = 0, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bot", "parse", *words],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **(env or {})},
        input=given,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_one_text_gives_one_object_of_the_documented_form(capsys: pytest.CaptureFixture[str]) -> None:
    parse_command("load 85 onto 9140", DIRECTORY, jsonl=False)

    assert lines(capsys.readouterr().out) == [
        {
            "intent": "topup_card",
            "slots": {"card": "9140", "amount": "85"},
            "opened": True,
            "ask": None,
            "suggestions": [],
        }
    ]


def test_lines_of_json_give_a_line_each_in_their_order() -> None:
    given = "\n".join(
        json.dumps({"text": text}) for text in ("float?", "how much is on Anna's card", "thanks!")
    )

    first, asked, last = lines(run("--directory", str(DIRECTORY), "--jsonl", given=given))

    assert (first["intent"], asked["intent"], last["intent"]) == ("float_status", "ambiguous", "none")
    assert asked["ask"]["slot"] == "card"
    assert asked["ask"]["options"] == ["3555", "7781"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("nonsense", "isn't valid JSON"),
        ("[]", "is not a directory"),
        ('{"cards": [], "tz": "Nowhere/Here"}', "isn't a time zone"),
        ('{"cards": [], "now": "soon"}', "is an ISO time"),
        ('{"cards": [{"last4": "1234"}]}', "each card is an object"),
        ('{"cards": [], "week_starts": "friday"}', "week_starts"),
    ],
)
def test_a_directory_that_cannot_be_used_is_named_in_a_sentence(
    tmp_path: Path, content: str, sentence: str
) -> None:
    path = tmp_path / "cards.json"
    path.write_text(content)

    with pytest.raises(Mistake, match=sentence):
        read_directory(path)


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85"])
def test_only_a_newline_ends_a_line_of_json(char: str) -> None:
    """JSON may hold every other separator of lines as it is."""
    said = json.dumps({"text": f"float?{char}"}, ensure_ascii=False)

    read = lines(run("--directory", str(DIRECTORY), "--jsonl", given=f"{said}\n\n{said}\r\n"))

    assert [one["intent"] for one in read] == ["float_status", "float_status"]


def test_a_line_that_is_no_text_ends_the_command_with_a_sentence() -> None:
    assert "Line 1" in run("--directory", str(DIRECTORY), "--jsonl", given="[]\n", code=2)


async def filled(url: str, master: str) -> None:
    await migrate(url)
    store = await Store.open(url, vault=Vault(Keyring.parse(master)), clock=SystemClock())
    async with store.begin() as tx:
        await cards.put_many(
            tx, "main", [CardEntry("crd_1", "main", "Nora Lindqvist", "9140", status="ACTIVE")]
        )
    await store.close()


def test_without_a_directory_the_cards_of_the_database_are_read(tmp_path: Path) -> None:
    url, master = f"sqlite:///{tmp_path / 'c.db'}", new_master()
    key = tmp_path / "master.key"
    key.write_text(master + "\n")
    key.chmod(0o600)
    asyncio.run(filled(url, master))
    env = {"COUNTERSIGN_DATABASE_URL": url, "COUNTERSIGN_MASTER_KEY_FILE": str(key)}

    assert lines(run("freeze Nora's card", env=env))[0]["slots"] == {"card": "Nora"}


def test_unread_lists_the_texts_that_nobody_understood(tmp_path: Path) -> None:
    url, master = f"sqlite:///{tmp_path / 'c.db'}", new_master()
    key = tmp_path / "master.key"
    key.write_text(master + "\n")
    key.chmod(0o600)
    asyncio.run(filled(url, master))
    asyncio.run(with_unread_text(url, master))
    env = {"COUNTERSIGN_DATABASE_URL": url, "COUNTERSIGN_MASTER_KEY_FILE": str(key)}

    (found,) = lines(run("--unread", env=env))

    assert found["text"] == "wiggle <card>"
    assert set(found) == {"said_at", "text"}


async def with_unread_text(url: str, master: str) -> None:
    store = await Store.open(url, vault=Vault(Keyring.parse(master)), clock=SystemClock())
    async with store.begin() as tx:
        await unread_texts.add(tx, "01A", "wiggle <card>")
    await store.close()
