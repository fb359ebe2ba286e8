"""The simulator's own scenarios as files, one a scenario, in the form that everybody can write them in."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FILES"]

FILES = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.yml"))}
