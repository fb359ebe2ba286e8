"""The packages read as a map: which module imports which, through which door, and where imports run in a circle.

A room is a package. Its door is its `__init__`: what `__all__` lists there is what code outside may import, and
each door on the way must list the next step. Nothing is imported or run here; the files are only parsed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Imported:
    """One name that a module imports: `from source import name`, or `import source` with no name."""

    module: str
    line: int
    source: str
    name: str | None

    @property
    def full(self) -> str:
        """The dotted name of what is imported, a module or something in one."""
        return f"{self.source}.{self.name}" if self.name else self.source

    def __str__(self) -> str:
        what = f"from {self.source} import {self.name}" if self.name else f"import {self.source}"
        return f"{self.module}:{self.line}: {what}"


class Tree:
    """Every module of some top packages below a folder, by dotted name."""

    def __init__(self, root: Path, packages: Iterable[str]) -> None:
        self.root = root
        self.files: dict[str, Path] = {}
        for package in packages:
            for path in sorted((root / package).rglob("*.py")):
                self.files[_dotted(path.relative_to(root))] = path

    @cached_property
    def packages(self) -> set[str]:
        """The dotted names that are packages: those with an `__init__`."""
        return {name for name, path in self.files.items() if path.name == "__init__.py"}

    @cached_property
    def imports(self) -> list[Imported]:
        """Every import of one of these modules by another: those for types and inside functions count."""
        return [one for name in self.files for one in self._imports_of(name)]

    def _imports_of(self, module: str) -> Iterator[Imported]:
        path = self.files[module]
        here = module if module in self.packages else module.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found: list[tuple[str, str | None]] = [(alias.name, None) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                source = _absolute(node, here)
                found = [(source, alias.name) for alias in node.names]
            else:
                continue
            for source, name in found:
                if source in self.files:
                    yield Imported(module, node.lineno, source, name)

    def file_of(self, imported: Imported) -> str:
        """The module an import reads from: a submodule when the name is one, else the source itself."""
        return imported.full if imported.full in self.files else imported.source

    def doors(self, package: str) -> set[str] | None:
        """What the door of a package lists in `__all__`; None when it has none."""
        for node in ast.parse(self.files[package].read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
            ):
                return set(ast.literal_eval(node.value))
        return None

    def bound_in(self, module: str) -> set[str]:
        """The names that a module defines, assigns or imports at its top level."""
        found: set[str] = set()
        body = ast.parse(self.files[module].read_text(encoding="utf-8")).body
        # What a door imports late stands here for those who check types.
        late = [
            node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ]
        for node in [*body, *(inner for block in late for inner in block.body)]:
            if isinstance(node, ast.Import | ast.ImportFrom):
                found |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
        return found

    def undocumented(self, module: str) -> list[str]:
        """The public functions, methods and classes of a module that have no docstring."""
        body = ast.parse(self.files[module].read_text(encoding="utf-8")).body
        return [f"{module}.{name}" for name in _undocumented(body)]

    def inside(self, package: str) -> list[str]:
        """The modules and packages in a package, at any depth, itself included."""
        return [name for name in self.files if within(name, package)]

    def modules_in_folder(self, package: str) -> list[str]:
        """The modules that lie in the folder of a package itself, its `__init__` left out."""
        return [
            name for name in self.files if name not in self.packages and name.rpartition(".")[0] == package
        ]


def circles(tree: Tree, package: str) -> list[list[str]]:
    """Groups of modules of a package, at any depth, that import one another in a circle; each sorted."""
    inside = set(tree.inside(package))
    arrows: dict[str, set[str]] = {name: set() for name in inside}
    for imported in tree.imports:
        target = tree.file_of(imported)
        if imported.module in inside and target in inside and target != imported.module:
            arrows[imported.module].add(target)
    reached = {name: _reachable(name, arrows) for name in inside}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in inside
        if name in reached[name]
    }
    return [list(group) for group in sorted(groups)]


def _reachable(start: str, arrows: Mapping[str, set[str]]) -> set[str]:
    """What can be reached in one step or more; the start itself only by a circle."""
    found: set[str] = set()
    waiting = list(arrows[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += arrows[name]
    return found


def past_a_door(tree: Tree, package: str, lives_in: Mapping[str, str] | None = None) -> list[str]:
    """Imports from outside a room that its door does not list, or that go past the door; each as a sentence.

    `package` and every package in it are rooms. `lives_in` says of modules outside (`tests.sandbox_partner`)
    which room they may be treated as belonging to.
    """
    rooms = sorted(name for name in tree.packages if within(name, package))
    listed = {room: tree.doors(room) for room in rooms}
    wrong = [f"{room} has a door without __all__" for room in rooms if listed[room] is None]
    for imported in tree.imports:
        if within(tree.file_of(imported), package):
            home = _home(imported.module, lives_in or {})
            crossed = [room for room in rooms if within(imported.full, room) and not within(home, room)]
            why = next(
                (why for room in crossed if (why := _refused(tree, imported, room, listed[room]))), None
            )
            if why:
                wrong.append(f"{imported}: {why}")
    return wrong


def _home(module: str, lives_in: Mapping[str, str]) -> str:
    return next((room for outside, room in lives_in.items() if within(module, outside)), module)


def _refused(tree: Tree, imported: Imported, room: str, listed: set[str] | None) -> str | None:
    """Why an import may not cross the door of a room, or None."""
    if imported.full == room:
        return None  # the room itself: what is then read off it is an attribute, which only the door can give
    step = imported.full.removeprefix(room + ".").split(".")[0]
    if step not in (listed or ()):
        return f"the door of {room} does not list {step}"
    if imported.source != room and f"{room}.{step}" not in tree.packages:
        return f"it goes past the door of {room}; import {step} from the room"
    return None


def within(name: str, package: str) -> bool:
    """Whether a dotted name is a package or something in it."""
    return name == package or name.startswith(package + ".")


def _undocumented(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name.startswith("_"):
            continue
        if ast.get_docstring(node) is None:
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{name}" for name in _undocumented(node.body))


def _dotted(path: Path) -> str:
    parts = list(path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _absolute(node: ast.ImportFrom, here: str) -> str:
    """The dotted source of a `from` import; dots are counted from the package the module lies in."""
    if not node.level:
        return node.module or ""
    base = here.split(".")[: len(here.split(".")) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])
