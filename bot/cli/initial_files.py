"""`countersign init`: what a first start needs, written from five answers: the policy, a master key, the environment.

Nothing is overwritten, and nothing is written before every answer is found good. Tokens and keys of others are no
questions: they go into the `.env` by hand, and the Partner API's key goes to `countersign keys set`.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import typer

from bot.cli import terminal
from bot.cli.terminal import Mistake

# Packaged beside this file, in the repository a link to the one at its root.
_EXAMPLE = Path(__file__).with_name("countersign.toml")
POLICY, MASTER_KEY, ENVIRONMENT = "countersign.toml", "master.key", ".env"


#: In the order in which they are asked.
_QUESTIONS: Final = {
    "approvers": "Who approves? A user group, or member ids with commas between them",
    "approvals_channel": "Channel for requests",
    "alerts_channel": "Channel for alerts",
    "draft_only": "Practice first, so that nothing is sent to the card provider?",
    "database_url": "Database, an SQLite file or postgresql://user@host/name",
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered; None where it has to be asked."""

    approvers: str | None = None
    approvals_channel: str | None = None
    alerts_channel: str | None = None
    draft_only: bool | None = None
    database_url: str | None = None


def write(folder: Path, given: Answers) -> None:
    """Ask what `given` leaves open, and write the three files. Raises `Mistake`, ConfigError and SettingsError."""
    from storage.vault import new_master

    folder = folder.absolute()
    there = [name for name in (POLICY, MASTER_KEY, ENVIRONMENT) if os.path.lexists(folder / name)]
    if there:
        raise Mistake(
            f"{folder} has {' and '.join(there)} already, and nothing is overwritten. Nothing was written. Name another"
            " folder, such as: countersign init local"
        )
    _refuse_unwritable(folder)
    answers = _asked(folder, given)
    policy = policy_file(answers)
    environment = _environment(folder, answers)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error.strerror) from None
    _create(folder / POLICY, policy, mode=0o644)
    _create(folder / MASTER_KEY, new_master() + "\n", mode=0o400)
    _create(folder / ENVIRONMENT, environment, mode=0o600)
    terminal.echo(_what_next(folder))


def _refuse_unwritable(folder: Path) -> None:
    """Raise `Mistake` where no file can be made there, before anybody answers five questions."""
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise Mistake(f"{there} is not a folder. Nothing was written. Name another folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise _unwritable(there, os.strerror(errno.EACCES))


def _unwritable(folder: Path, why: str | None) -> Mistake:
    return Mistake(
        f"{folder} cannot be written by you ({why}). Nothing was written. Name another folder, or have somebody give"
        " you this one."
    )


def _asked(folder: Path, given: Answers) -> Answers:
    """All five, each possible: what `given` has is refused otherwise, and what is typed is asked for again."""
    usual = Answers(
        approvers="@card-approvers",
        approvals_channel="#card-approvals",
        alerts_channel="#card-alerts",
        draft_only=False,
        database_url=f"sqlite:///{folder}/countersign.db",
    )
    known = {name: value for name in _QUESTIONS if (value := getattr(given, name)) is not None}
    answers = replace(usual, **known)
    _require_possible(answers)
    for name in _QUESTIONS:
        if name not in known:
            answers = _with_answer(answers, name)
    return replace(answers, database_url=_from_every_folder(str(answers.database_url)))


def _with_answer(answers: Answers, name: str) -> Answers:
    """Ask for this one, which is the usual one before, until it is possible."""
    from bot.config import ConfigError, SettingsError

    usual = getattr(answers, name)
    ask = typer.confirm if isinstance(usual, bool) else typer.prompt
    while True:
        answer: Any = ask(_QUESTIONS[name], default=usual)
        typed = replace(answers, **{name: answer})
        try:
            _require_possible(typed)
        except (ConfigError, SettingsError) as wrong:
            terminal.echo("\n".join(wrong.problems))
        else:
            return typed


def _require_possible(answers: Answers) -> None:
    """Raises ConfigError or SettingsError, which say what is wrong."""
    from bot.config import Config, Settings

    Config.parse(policy_file(answers).encode())
    Settings.from_env({"COUNTERSIGN_DATABASE_URL": str(answers.database_url)})


def _from_every_folder(database_url: str) -> str:
    """The address, with an SQLite file by its absolute path: a service runs in another folder than a terminal."""
    path = database_url.removeprefix("sqlite:///")
    return f"sqlite:///{Path(path).absolute()}" if path and path != database_url else database_url


def policy_file(answers: Answers) -> str:
    """The example with these answers in it."""
    approvers = [name.strip() for name in str(answers.approvers).split(",") if name.strip()]
    text = _EXAMPLE.read_text(encoding="utf-8").split("\n", 1)[
        1
    ]  # without the path of the schema for editors
    for key, value in (
        ("approvers", approvers),
        ("approvals_channel", answers.approvals_channel),
        ("alerts_channel", answers.alerts_channel),
        ("draft_only", bool(answers.draft_only)),
    ):
        # A string, a list of strings and a truth value are written in TOML as in JSON.
        said = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        usual = re.search(rf'^{key} = (\[[^\]]*\]|"[^"]*"|true|false)', text, re.MULTILINE)
        assert usual is not None  # noqa: S101 - the example shows every setting
        text = text[: usual.start()] + said + text[usual.end() :]
    return text


def _environment(folder: Path, answers: Answers) -> str:
    settings = {
        "COUNTERSIGN_CONFIG": str(folder / POLICY),
        "COUNTERSIGN_MASTER_KEY_FILE": str(folder / MASTER_KEY),
        "COUNTERSIGN_DATABASE_URL": str(answers.database_url),
    }
    lines = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
    return "\n".join(
        [
            "# What `countersign` is started with. Keep it to yourself: it will hold tokens.",
            "# OAuth & Permissions > Bot User OAuth Token, xoxb-…",
            "SLACK_BOT_TOKEN=",
            "# Basic Information > App-Level Tokens, with connections:write, xapp-…",
            "SLACK_APP_TOKEN=",
            *lines,
            "# The https address at which the web server is reached, for the webhook and for card details:",
            "#COUNTERSIGN_PUBLIC_URL=https://countersign.example.com",
            "",
        ]
    )


def _create(path: Path, text: str, *, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)


def _what_next(folder: Path) -> str:
    environment = shlex.quote(str(folder / ENVIRONMENT))
    return f"""\
{folder / POLICY}  who may approve what: have it reviewed
{folder / MASTER_KEY}  the master key: keep a copy of it away from the database's backups
{folder / ENVIRONMENT}  the settings: put the two Slack tokens into it

Next:
  set -a; . {environment}; set +a
  countersign keys set main --url https://HOST/api/partner/v1
  countersign doctor
  countersign run"""
