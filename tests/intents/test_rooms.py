"""The rooms of bot/intents are entered by their doors: what one room takes of another, the other offers."""

import ast
from pathlib import Path

import bot.intents

HERE = Path(bot.intents.__file__).parent
ROOMS = sorted(path.name for path in HERE.iterdir() if (path / "__init__.py").exists())


def past_the_door(path: Path, room: str) -> list[str]:
    """Imports of a file that reach into another room than its own."""
    imports = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    inner = [node.module or "" for node in imports if (node.module or "").count(".") > 2]
    return [f"{path.name}: {name}" for name in inner if not name.startswith(f"bot.intents.{room}.")]


def test_no_file_reaches_past_the_door_of_another_room() -> None:
    files = [(path, path.parent.name) for path in HERE.rglob("*.py") if path.parent != HERE]
    files += [(path, "") for path in HERE.glob("*.py")]

    assert len(ROOMS) == 5
    assert [found for path, room in files for found in past_the_door(path, room)] == []
