"""A command whose output has no room, such as on a full disk: a sentence and an exit code, whatever it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from bot.cli import app

ROOT = Path(__file__).parents[2]
FULL = Path("/dev/full")


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command, without its arguments."""
    if not hasattr(command, "commands"):
        yield words
        return
    for name, part in command.commands.items():
        yield from commands(part, (*words, name))


EVERY = sorted(commands(typer.main.get_command(app)))


def run(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **more}
    with FULL.open("w") as full:
        return subprocess.run(
            [sys.executable, "-m", "bot", *words],
            cwd=folder,
            env=env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )


def require_a_sentence(done: subprocess.CompletedProcess[str]) -> None:
    said = "The output could not be written (No space left on device). Free some, or send it elsewhere.\n"
    assert done.stderr.endswith(said), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == 1


@pytest.mark.walk(most=6)
@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_the_help_of_every_command_ends_with_a_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    require_a_sentence(run(tmp_path, *words, "--help"))


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("manifest",),
        ("keys", "new-master"),
        ("doctor",),
        ("doctor", "--json"),
        ("sandbox", "--slack-port", "0"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_what_a_command_found_is_never_lost_in_silence(
    tmp_path: Path, words: tuple[str, ...], unbuffered: str
) -> None:
    require_a_sentence(run(tmp_path, *words, PYTHONUNBUFFERED=unbuffered))


def test_a_reader_that_has_enough_is_no_fault(tmp_path: Path) -> None:
    shell = f"{sys.executable} -m bot manifest | head -n 1"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )

    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
