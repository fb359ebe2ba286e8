"""The simulator's own scenarios as files, one a scenario, in the form that everybody can write them in.

Those that reach into the past, or need what no control call does, are in the modules beside this folder.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["FILES"]

FILES = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.yml"))}
