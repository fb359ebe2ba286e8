"""`countersign init` writes what a first start needs, from five answers, and overwrites nothing."""

from __future__ import annotations

import base64
import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bot.config import Config, Settings

pytestmark = pytest.mark.by_turns(4)

ROOT = Path(__file__).parents[2]
OPTIONS = (
    *("--approvers", "@card-approvers", "--approvals-channel", "#card-approvals"),
    *("--alerts-channel", "#card-alerts", "--live"),
)


def init(folder: Path, *words: str, given: str = "", code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bot", "init", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def environment(folder: Path) -> dict[str, str]:
    """As a shell that sources the file has it."""
    shell = f"set -a; . {shlex.quote(str(folder / '.env'))}; env -0"
    found = subprocess.run(["sh", "-c", shell], env={}, capture_output=True, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in found.split("\0") if "=" in line)


def test_five_answers_make_a_policy_a_master_key_and_an_environment(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"

    asked = init(tmp_path, "a folder", given="U0BOB, @card-leads\n#ops\nC0ALERTS1\ny\n\n")

    assert asked.count("[") == 5, asked
    config = Config.parse((folder / "countersign.toml").read_bytes())
    assert config.policy.people.approvers == ("U0BOB", "@card-leads")
    assert (config.channels.approvals, config.channels.alerts) == ("#ops", "C0ALERTS1")
    assert config.channels.draft_only
    assert len(base64.b64decode((folder / "master.key").read_text())) == 32
    settings = Settings.from_env(environment(folder))
    assert settings.config_path == folder / "countersign.toml"
    assert settings.database_url == f"sqlite:///{folder}/countersign.db"
    assert settings.master_key is not None
    assert settings.master_key.read().reveal() == (folder / "master.key").read_text()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {"countersign.toml": 0o644, "master.key": 0o400, ".env": 0o600}


def test_enter_takes_what_is_offered_which_is_the_example(tmp_path: Path) -> None:
    init(tmp_path, given="\n\n\n\n\n")

    example = (ROOT / "countersign.toml").read_text()
    written = (tmp_path / "countersign.toml").read_text()
    assert written == example.split("\n", 1)[1]


def test_what_options_say_is_not_asked(tmp_path: Path) -> None:
    said = init(
        tmp_path, "there", *OPTIONS, "--database-url", "postgresql://bot@db/countersign?sslmode=require&x=1"
    )

    assert "[" not in said
    assert environment(tmp_path / "there")["COUNTERSIGN_DATABASE_URL"].endswith("?sslmode=require&x=1")
    assert tomllib.loads((tmp_path / "there/countersign.toml").read_text())["slack"]["draft_only"] is False


@pytest.mark.parametrize("name", ["countersign.toml", "master.key", ".env"])
def test_nothing_is_overwritten_and_then_nothing_is_written(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")

    said = init(tmp_path, *OPTIONS, "--database-url", "sqlite:///c.db", code=2)

    assert f"has {name} already" in said
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


WRONG_FIRST = {
    "approvers": ((" , ",), "people.approvers"),
    "channel for requests": (("card approvals", "cards"), "slack.approvals_channel"),
    "channel for alerts": (("card alerts",), "slack.alerts_channel"),
    "practice": (("perhaps",), ""),
    "database": (("mysql://db/x", "nowhere"), "COUNTERSIGN_DATABASE_URL"),
}


@pytest.mark.parametrize("which", WRONG_FIRST)
def test_an_answer_that_cannot_be_is_asked_for_again_and_the_others_are_kept(
    tmp_path: Path, which: str
) -> None:
    good = dict(zip(WRONG_FIRST, ("U0BOB", "#ops", "#noise", "y", "sqlite:///c.db"), strict=True))
    wrong, sentence = WRONG_FIRST[which]
    lines = [line for name in good for line in (*(wrong if name == which else ()), good[name])]

    asked = init(tmp_path, given="".join(f"{line}\n" for line in lines))

    assert asked.count("[") == 5 + len(wrong), asked
    assert asked.count(sentence) >= len(wrong)
    config = Config.parse((tmp_path / "countersign.toml").read_bytes())
    assert config.policy.people.approvers == ("U0BOB",)
    assert (config.channels.approvals, config.channels.alerts) == ("#ops", "#noise")
    assert environment(tmp_path)["COUNTERSIGN_DATABASE_URL"] == f"sqlite:///{tmp_path}/c.db"


def test_an_option_that_cannot_be_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    said = init(tmp_path, "--alerts-channel", "card alerts", given="", code=2)

    assert "slack.alerts_channel" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--approvals-channel", "card approvals", "slack.approvals_channel"),
        ("--approvers", " , ", "people.approvers"),
        ("--approvers", 'x"]; y = ["', "people.approvers"),
        ("--database-url", "mysql://db/x", "COUNTERSIGN_DATABASE_URL"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_before_anything_is_written(
    tmp_path: Path, option: str, value: str, sentence: str
) -> None:
    said = init(tmp_path, *OPTIONS, "--database-url", "sqlite:///c.db", option, value, code=2)

    assert sentence in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [("file", "file is not a folder"), ("file/there", "file is not a folder"), ("/proc/there", "/proc")],
    ids=["a file", "in a file", "where nobody may write"],
)
def test_a_folder_that_cannot_be_written_is_called_that(tmp_path: Path, folder: str, sentence: str) -> None:
    (tmp_path / "file").write_text("mine")

    said = init(tmp_path, folder, given="\n" * 5, code=2)

    assert sentence in said
    assert "Nothing was written. Name another folder" in said
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_sqlite_file_is_found_from_every_folder_afterwards(tmp_path: Path) -> None:
    init(tmp_path, "there", *OPTIONS, "--database-url", "sqlite:///data/c.db")

    assert environment(tmp_path / "there")["COUNTERSIGN_DATABASE_URL"] == f"sqlite:///{tmp_path}/data/c.db"


def test_the_next_steps_are_said_and_are_commands_that_there_are(tmp_path: Path) -> None:
    said = init(tmp_path, *OPTIONS, "--database-url", "sqlite:///c.db")

    commands = re.findall(r"^  countersign ([a-z ]+?)(?: main.*)?$", said, re.MULTILINE)
    assert commands == ["keys set", "doctor", "run"]
