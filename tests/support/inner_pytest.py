"""A run of pytest inside a test: in a fork of this process, so that it need not import everything again."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.walks import this_turn

ROOT = Path(__file__).parents[2]
RULES = ("-c", str(ROOT / "pyproject.toml"))


def inner_pytest(folder: Path, *words: str, env: Mapping[str, str]) -> CompletedProcess[str]:
    """What a run under our settings prints, and its exit code. It has this environment, and writes into `folder`."""
    printed = folder / "printed.txt"
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # from 3.12 on of other threads; the fork has none, and uses none of ours
        pid = os.fork()
    if pid == 0:
        code = 3  # pytest's own for what is wrong with itself
        try:
            code = _run(printed, [*RULES, *words], env)
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return CompletedProcess(words, os.waitstatus_to_exitcode(status), printed.read_text(encoding="utf-8"))


def _run(printed: Path, words: list[str], env: Mapping[str, str]) -> int:
    with printed.open("w", encoding="utf-8") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        sys.stdout = sys.stderr = file
        os.environ.clear()
        os.environ.update(env)
        os.chdir(ROOT)
        this_turn.cache_clear()  # it is what the environment says
        return int(pytest.main(words))
