"""Every view against Slack's own published TypeScript types: structure and enums, where lengths are not known."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from handlers.views import charts
from tests.handlers.every_view import MESSAGES, VIEWS
from tests.handlers.sample_requests import WORDS

TYPES = Path(__file__).parents[1] / "sandbox_slack" / "types"


def compiled(folder: Path, lines: list[str]) -> str:
    """What the compiler says of these lines; empty when it agrees."""
    if not (TYPES / "node_modules" / "typescript").is_dir() or shutil.which("node") is None:
        pytest.skip("Slack's TypeScript types are not installed: npm ci in tests/sandbox_slack/types")
    folder.mkdir()
    source = folder / "views.ts"
    source.write_text("\n".join(['import type * as types from "@slack/types";', *lines]))
    (folder / "node_modules").symlink_to(TYPES / "node_modules")
    tsc = [str(TYPES / "node_modules" / ".bin" / "tsc"), "--noEmit", "--strict", "--skipLibCheck"]
    modules = ["--module", "nodenext", "--moduleResolution", "nodenext"]
    done = subprocess.run(
        [*tsc, *modules, str(source)], cwd=folder, capture_output=True, text=True, timeout=50
    )
    return done.stdout + done.stderr


def claim(name: str, value: object, type_name: str) -> str:
    return f"export const {name.replace('-', '_')} = ({json.dumps(value)}) satisfies types.{type_name};"


def test_every_view_has_the_form_of_slacks_types(tmp_path: Path) -> None:
    # Slack's types know no charts; their form is checked by test_charts.py.
    drawn = {name: charts.without_chart(draw(WORDS))["blocks"] for name, draw in MESSAGES.items()}
    lines = [claim(name, blocks, "KnownBlock[]") for name, blocks in drawn.items()]
    for name, draw in VIEWS.items():
        view = charts.without_chart(draw(WORDS))
        lines.append(claim(name, view, "HomeView" if view["type"] == "home" else "ModalView"))

    assert compiled(tmp_path / "good", lines) == ""
    wrong = [{**MESSAGES["float"](WORDS)["blocks"][0], "text": {"type": "mrkdwn", "text": "*x*"}}]
    assert "mrkdwn" in compiled(tmp_path / "bad", [claim("wrong", wrong, "KnownBlock[]")])
