"""Every package is made of rooms: no circle of files, nothing past a door, no folder that is a hall."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.architecture import Tree, circles, past_a_door

ROOT = Path(__file__).parents[1]
#: What is walked for imports. Tests may look inside the rooms of the product; those of the simulator keep outside.
PRODUCT = ("bot", "handlers", "storage", "sandbox", "benchmarks")
#: Floors are open: their own modules, and the doors of their rooms, are for everybody above.
FLOORS = ("bot.services", "bot.domain", "bot.partner", "handlers", "storage")
#: Packages that are one room, or a package of rooms with a door of its own.
PACKAGES = (
    *("bot.config", "bot.intents", "bot.operations", "bot.outcomes", "bot.view_models"),
    *("sandbox.partner", "sandbox.slack"),
)
#: Packages without a door, and why.
OPEN = {
    "storage.migrations": "Alembic finds its modules by itself",
    "bot.partner.calls": "its door is what the calls in it are built on",
}
#: The packages in which every public function, method and class has a docstring.
DOCUMENTED = ("bot.operations", "sandbox.partner")
#: Tests that look at a package from within: they may import a room's listed names, as the package itself does.
LIVES_IN = {"tests.sandbox_partner": "sandbox.partner"}
#: Modules in one folder; more is a hall, in which nobody finds a file by its name.
MODULES_MOST = 15
#: Folders that may hold more, and why.
HALLS = {
    "bot.operations": "one file for each operation kind, found by its name",
    "bot.domain.alerts": "one file for each subject that alerts are about",
    "benchmarks": "one file for each thing that is measured, found by its name",
    "storage.migrations.versions": "one file for each revision, found by its number",
}


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(ROOT, PRODUCT)


@pytest.fixture(scope="module")
def tree_with_tests() -> Tree:
    return Tree(ROOT, (*PRODUCT, "tests"))


def rooms_of(floor: str) -> list[str]:
    """The packages right below a floor that have a door."""
    found = sorted(path.parent.name for path in ROOT.joinpath(*floor.split(".")).glob("*/__init__.py"))
    return [name for room in found if (name := f"{floor}.{room}") not in OPEN]


ROOMS = [room for floor in FLOORS for room in rooms_of(floor)]


def test_the_rooms_are_all_there() -> None:
    assert len(ROOMS) > 25


@pytest.mark.parametrize("package", [*FLOORS, *PACKAGES, "bot.cli", "bot.engine", "bot.details"])
def test_no_files_import_one_another_in_a_circle(tree: Tree, package: str) -> None:
    assert circles(tree, package) == []


@pytest.mark.parametrize("room", [*ROOMS, *PACKAGES])
def test_nothing_is_imported_past_the_door_of_a_room(tree: Tree, room: str) -> None:
    assert past_a_door(tree, room) == []


def test_the_tests_of_the_simulator_enter_it_by_its_doors(tree_with_tests: Tree) -> None:
    assert past_a_door(tree_with_tests, "sandbox.partner", LIVES_IN) == []


@pytest.mark.parametrize("package", [*ROOMS, *PACKAGES])
def test_what_a_door_lists_is_there(tree: Tree, package: str) -> None:
    missing = [
        f"{room} lists {name}"
        for room in tree.packages
        if room == package or room.startswith(package + ".")
        for name in tree.doors(room) or ()
        if f"{room}.{name}" not in tree.files and name not in tree.bound_in(room)
    ]

    assert missing == []


def test_no_folder_holds_more_modules_than_a_reader_can_take_in(tree: Tree) -> None:
    crowded = {room: len(tree.modules_in_folder(room)) for room in tree.packages if room not in HALLS}

    assert {room: number for room, number in crowded.items() if number > MODULES_MOST} == {}


@pytest.mark.parametrize("package", DOCUMENTED)
def test_every_public_function_and_class_says_what_it_is(tree: Tree, package: str) -> None:
    assert [name for module in tree.inside(package) for name in tree.undocumented(module)] == []


def tree_of(root: Path, files: dict[str, str]) -> Tree:
    """A small tree of files under `root`, to try the rules on."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Tree(root, ["house", "street"])


SOUND = {
    "house/__init__.py": '__all__ = ["hall"]\n',
    "house/hall/__init__.py": '"""Doc."""\nfrom house.hall.lamp import light\n__all__ = ["light", "stairs"]\n',
    "house/hall/lamp.py": "def light() -> None: ...\n",
    "house/hall/stairs.py": "from house.hall import lamp\n",
    "house/cellar/__init__.py": "__all__ = []\n",
    "house/cellar/shelf.py": "from house.hall import light, stairs\nimport house.hall\n",
    "street/__init__.py": "",
    "street/passer.py": "from house import hall\nfrom house.hall import light, stairs\n",
}


def test_a_package_whose_doors_are_used_is_sound(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, SOUND)

    assert past_a_door(tree, "house") == []
    assert circles(tree, "house") == []


@pytest.mark.parametrize(
    ("where", "line", "why"),
    [
        ("house/cellar/shelf.py", "from house.hall.lamp import light", "does not list lamp"),
        ("house/cellar/shelf.py", "from house.hall import lamp", "does not list lamp"),
        ("house/cellar/shelf.py", "import house.hall.lamp", "does not list lamp"),
        ("house/cellar/shelf.py", "from house.hall.stairs import lamp", "goes past the door"),
        ("house/cellar/shelf.py", "def f() -> None:\n    from house.hall import lamp", "does not list lamp"),
        ("house/cellar/shelf.py", "from ..hall.lamp import light", "does not list lamp"),
        ("house/cellar/shelf.py", "if TYPE_CHECKING:\n    from house.hall import lamp", "does not list lamp"),
        ("street/passer.py", "from house import cellar", "does not list cellar"),
        ("street/passer.py", "from house.cellar import shelf", "does not list cellar"),
    ],
)
def test_an_import_past_a_door_is_found(tmp_path: Path, where: str, line: str, why: str) -> None:
    tree = tree_of(tmp_path, {**SOUND, where: SOUND[where] + line + "\n"})

    (wrong,) = past_a_door(tree, "house")
    assert why in wrong
    assert wrong.startswith(where.removesuffix(".py").replace("/", "."))


def test_a_test_that_lives_in_a_package_passes_its_outer_door_only(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, {**SOUND, "street/passer.py": "from house.cellar import shelf\n"})

    (wrong,) = past_a_door(tree, "house", {"street": "house"})
    assert "the door of house.cellar does not list shelf" in wrong


def test_a_room_without_a_list_has_no_door(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, {**SOUND, "house/cellar/__init__.py": ""})

    assert "house.cellar has a door without __all__" in past_a_door(tree, "house")


@pytest.mark.parametrize(
    "back",
    [
        "from house.hall import stairs",
        "if TYPE_CHECKING:\n    from house.hall.stairs import climb",
        "def late() -> None:\n    import house.hall.stairs",
    ],
)
def test_a_circle_of_files_is_found_for_types_and_inside_functions_too(tmp_path: Path, back: str) -> None:
    tree = tree_of(tmp_path, {**SOUND, "house/hall/lamp.py": back + "\n"})

    assert circles(tree, "house") == [["house.hall.lamp", "house.hall.stairs"]]
