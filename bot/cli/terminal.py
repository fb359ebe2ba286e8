"""How a command speaks to a person at the terminal: what it prints, sentences, an exit code, no traceback.

What others wrote into the database must not steer the terminal that shows it: control characters and those that
change the direction of writing are shown by their number, as JSON writes them. A fault of ours still shows its
traceback: hiding it would only make it harder to report.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import wraps
from typing import ParamSpec

import typer

P = ParamSpec("P")


_OURS = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def echo(text: str, *, err: bool = False) -> None:
    """Print it, on standard error with `err`. Line breaks stay: see `in_a_line` for what others wrote."""
    typer.echo(_shown(text, but=_OURS), err=err)


def in_a_line(text: str) -> str:
    """The same text without a line of its own, which could look like one of ours."""
    return _shown(text, but=frozenset())


def _shown(text: str, *, but: frozenset[str]) -> str:
    if text.isprintable():
        return text
    return "".join(
        c if c in but or unicodedata.category(c) not in _HIDDEN else json.dumps(c)[1:-1] for c in text
    )


class ExitCode(IntEnum):
    """0 done · 1 not done, or not well · 2 cannot be done as asked · 78 (EX_CONFIG) wrong master key."""

    DONE = 0
    NOT_WELL = 1
    UNUSABLE = 2
    WRONG_MASTER_KEY = 78


class Mistake(Exception):
    """Something the person at the terminal can fix; the text says how."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.UNUSABLE) -> None:
        super().__init__(sentence)
        self.code = code


def in_sentences(command: Callable[P, None]) -> Callable[P, None]:
    """Decorate a command: what a person can fix ends it with sentences and an exit code."""

    @wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except Exception as error:
            explained = explain(error)
            if explained is None:
                raise
            sentences, code = explained
            for sentence in sentences:
                echo(sentence, err=True)
            raise typer.Exit(code) from None

    return guarded


@contextmanager
def whole_output() -> Iterator[None]:
    """Around a whole command: one whose output has no room ends with a sentence, and never as if all were well."""
    more = ""
    try:
        yield
    except Exception:
        # Of the output, or of something else: an output without a buffer only says so of one more line.
        more = "\n"
        raise
    finally:
        why = _output_lost(more)
        if why:
            with suppress(OSError):
                echo(f"The output could not be written ({why}). Free some, or send it elsewhere.", err=True)
            sys.exit(ExitCode.NOT_WELL)


def _output_lost(more: str) -> str:
    """Why standard output takes neither what waits in its buffer nor `more`; empty where it does, or where its reader
    wanted no more of it."""
    try:
        if sys.stdout is not None:
            sys.stdout.write(more)
            sys.stdout.flush()
    except OSError as error:
        # Else Python tries once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "" if error.errno == errno.EPIPE else error.strerror or type(error).__name__
    return ""


def explain(error: Exception) -> tuple[list[str], ExitCode] | None:
    """What to say and the exit code; None when the error is ours to fix."""
    from bot.config import ConfigError, SettingsError
    from bot.domain.errors import CountersignError

    if isinstance(error, Mistake):
        return [str(error)], error.code
    if isinstance(error, SettingsError | ConfigError):
        return error.problems, ExitCode.UNUSABLE
    if isinstance(error, CountersignError):
        return [str(error)], _code_of(error)
    return _of_database(error)


def _of_database(error: Exception) -> tuple[list[str], ExitCode] | None:
    """Where the database does not do a statement for a reason outside Countersign. What is damaged stays so, and a
    service that is started again finds it so; anything else may pass."""
    from storage.errors import DatabaseFault
    from storage.faults import explained, is_damage, is_out_of_use

    if not isinstance(error, DatabaseFault) or not is_out_of_use(error):
        return None
    from bot.cli.environment import settings
    from storage.database import Database

    sentence = explained(error, Database.parse(settings().database_url))
    return [sentence], ExitCode.UNUSABLE if is_damage(error) else ExitCode.NOT_WELL


def _code_of(error: Exception) -> ExitCode:
    """1 where starting again may help by itself, which service managers then do; 2 where it stays wrong until somebody
    changes something. Another process on the same database ends: it is a command, or an older process that stops."""
    from bot.startup import CannotStart, NotNow
    from storage.errors import DatabaseAway, DatabaseInUse, StorageError, WrongMasterKey

    if isinstance(error, WrongMasterKey):
        return ExitCode.WRONG_MASTER_KEY
    may_pass = isinstance(error, DatabaseAway | DatabaseInUse | NotNow)
    is_lasting = isinstance(error, StorageError | CannotStart) and not may_pass
    return ExitCode.UNUSABLE if is_lasting else ExitCode.NOT_WELL
