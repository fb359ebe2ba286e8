"""Builds a distribution from the repository: one of its packages under the name that its users import.

The repository keeps its own names. Whoever installs a distribution gets one name that says whose it is, and no
top-level `sandbox` or `bot` beside somebody's own. Every import of the package is absolute and names it first, so
renaming is a change of those words in import lines, made in a copy.

`[tool.renamed-package]` of pyproject.toml says what is renamed: `package` as the repository calls it, `name` as the
distribution does, and in `added`, where there is one, a folder whose files are laid over the copy.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setuptools import build_meta

HERE = Path(__file__).parent.absolute()  # not resolved: a distribution may hold a link to this file
_PYPROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
_CHOSEN = _PYPROJECT["tool"]["renamed-package"]
OLD, NEW = _CHOSEN["package"], _CHOSEN["name"]
_IMPORT = re.compile(rf"^(\s*(?:from|import)\s+){re.escape(OLD)}(?=[.\s])", re.MULTILINE)
_TEXTS = ("pyproject.toml", "README.md")


def renamed(text: str) -> str:
    """A module's text with the package under its new name."""
    return _IMPORT.sub(rf"\g<1>{NEW}", text)


@contextlib.contextmanager
def _copied() -> Iterator[None]:
    """Inside a folder with the renamed package; an unpacked sdist has it already."""
    if (HERE / NEW).is_dir():
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        here, source = Path(folder), HERE.parents[1]
        shutil.copytree(
            source.joinpath(*OLD.split(".")), here / NEW, ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in (here / NEW).rglob("*.py"):
            path.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")
        if "added" in _CHOSEN:
            shutil.copytree(
                HERE / _CHOSEN["added"], here / NEW,
                ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True,
            )  # fmt: skip
        (here / NEW / "py.typed").touch()
        for name in (*_TEXTS, Path(__file__).name):
            shutil.copy(HERE / name, here / name)
        shutil.copy(source / "LICENSE", here / "LICENSE")
        before = Path.cwd()
        os.chdir(here)
        try:
            yield
        finally:
            os.chdir(before)


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel; its file name."""
    target = str(Path(wheel_directory).resolve())
    with _copied():
        return build_meta.build_wheel(target, config_settings)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Build the sdist, which holds the renamed package; its file name."""
    target = str(Path(sdist_directory).resolve())
    with _copied():
        return build_meta.build_sdist(target, config_settings)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Nothing beyond setuptools."""
    return []


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    """Nothing beyond setuptools."""
    return []
