"""The viewer: one page at `/` that shows a running simulator and lets a person act on it.

`FILES` maps each path of the page to its file. The page talks to `/_control` and needs no build step.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
_BESIDE = ("viewer.js", "viewer_console.js", "viewer_dom.js", "viewer_tables.js", "viewer.css")

FILES: dict[str, Path] = {"/": _HERE / "viewer.html", **{f"/{name}": _HERE / name for name in _BESIDE}}

__all__ = ["FILES"]
