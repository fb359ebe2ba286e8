"""What can be changed in a module, one change at a time, on its syntax tree.

A mutant is named by where it is and what it does, never by a line number, so that a list of mutants outlives an edit
of the lines above. Left alone are texts for people (whatever has a space in it), which the pages of messages hold, log
lines, annotations, and decorators such as `dataclass(frozen=True)`, which the type checker holds.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Pow: ast.Mult,
}  # fmt: skip
_LONGEST_SHOWN = 90
# A mutant of a log line or of a type is no mutant of what the code does.
_NO_BEHAVIOUR = ("log.", "cast(", "warnings.")


@dataclass(frozen=True)
class Mutant:
    """One change. `at` is the function or class it is in, `change` what it does, `nth` which of several alike."""

    module: str
    at: str
    change: str
    nth: int
    line: int
    index: int  # its place among all of the module
    in_function: bool  # whether exchanging the code of functions is enough to make it

    @property
    def key(self) -> str:
        nth = f" #{self.nth}" if self.nth else ""
        return f"{self.module}: {self.at}: {self.change}{nth}"


@dataclass
class _Change:
    """Where in the tree: `parent.field` (or its `place`-th element) becomes `new`; None removes an element."""

    parent: ast.AST
    field: str
    place: int | None
    new: ast.AST | None

    def apply(self) -> None:
        if self.place is None:
            setattr(self.parent, self.field, self.new)
            return
        items = getattr(self.parent, self.field)
        if self.new is None:
            del items[self.place]
            if isinstance(self.parent, ast.Dict):
                del self.parent.values[self.place]
        else:
            items[self.place] = self.new


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


class _Walk:
    """Every change of a module, in the order of its text."""

    def __init__(self, tree: ast.Module) -> None:
        self._members = _enum_members(tree)
        self.found: list[tuple[str, str, int, bool, _Change]] = []
        self._names: list[str] = []
        self._functions = 0
        self._statements(tree, "body")

    # where we are

    def _note(self, node: ast.AST, change: str, *edit: object, line: int | None = None) -> None:
        at = ".".join(self._names) or "module"
        where = line or getattr(node, "lineno", 0)
        self.found.append((at, change, where, bool(self._functions), _Change(*edit)))  # type: ignore[arg-type]

    def _statements(self, node: ast.AST, field: str) -> None:
        body: list[ast.stmt] = getattr(node, field)
        for place, statement in enumerate(body):
            self._statement(node, field, place, statement)

    def _statement(self, parent: ast.AST, field: str, place: int, statement: ast.stmt) -> None:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(statement)
            case ast.ClassDef():
                self._names.append(statement.name)
                for keyword in statement.keywords:
                    self._expression(keyword, "value", None, keyword.value)
                self._statements(statement, "body")
                self._names.pop()
            case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal() | ast.Pass():
                return
            case ast.Expr(value=ast.Constant()):
                return  # a docstring
            case _:
                self._plain(parent, field, place, statement)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for n, default in enumerate(node.args.defaults):
            self._names.append(node.name)
            self._expression(node.args, "defaults", n, default)
            self._names.pop()
        for n, late in enumerate(node.args.kw_defaults):
            if late is not None:
                self._names.append(node.name)
                self._expression(node.args, "kw_defaults", n, late)
                self._names.pop()
        self._names.append(node.name)
        self._functions += 1
        self._statements(node, "body")
        self._functions -= 1
        self._names.pop()

    def _plain(self, parent: ast.AST, field: str, place: int, node: ast.stmt) -> None:
        if _shown(node).startswith(_NO_BEHAVIOUR) or _is_type_checking(node):
            return
        gone = ast.copy_location(ast.Pass(), node)
        match node:
            case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.AugAssign() | ast.Delete():
                self._note(node, f"drop `{_shown(node)}`", parent, field, place, gone)
            case ast.Continue():
                self._note(
                    node, "continue → break", parent, field, place, ast.copy_location(ast.Break(), node)
                )
            case ast.Break():
                new = ast.copy_location(ast.Continue(), node)
                self._note(node, "break → continue", parent, field, place, new)
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                none = ast.copy_location(ast.Constant(None), value)
                self._note(node, f"return `{_shown(value)}` → None", node, "value", None, none)
            case ast.If() | ast.While():
                self._negate(node, "test", node.test)
            case _:
                pass
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "targets", "target", "ops"):
                continue
            self._field(node, name, value)

    def _field(self, node: ast.AST, name: str, value: object) -> None:
        if isinstance(value, ast.expr):
            self._expression(node, name, None, value)
        elif isinstance(value, list):
            for n, item in enumerate(value):
                if isinstance(item, ast.stmt):
                    self._statement(node, name, n, item)
                elif isinstance(item, ast.expr):
                    self._expression(node, name, n, item)
                elif isinstance(item, ast.AST):
                    self._inner(item)
        elif isinstance(value, ast.AST):
            self._inner(value)

    def _inner(self, node: ast.AST) -> None:
        """What is neither statement nor expression: keywords, comprehensions, handlers, cases."""
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "target", "pattern", "type", "op", "ctx"):
                continue
            if isinstance(node, ast.comprehension) and name == "ifs":
                for n, test in enumerate(node.ifs):
                    self._negate(node, "ifs", test, n)
            self._field(node, name, value)

    def _negate(self, node: ast.AST, field: str, test: ast.expr, place: int | None = None) -> None:
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return  # its comparison is turned round already
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return
        new = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
        self._note(test, f"if `{_shown(test)}` → if not", node, field, place, new)

    # expressions

    def _expression(self, parent: ast.AST, field: str, place: int | None, node: ast.expr) -> None:
        def becomes(new: ast.expr, change: str | None = None) -> None:
            ast.copy_location(new, node)
            self._note(node, change or f"`{_shown(node)}` → `{_shown(new)}`", parent, field, place, new)

        match node:
            case ast.Lambda():
                self._functions += 1
                self._expression(node, "body", None, node.body)
                self._functions -= 1
                return
            case ast.Compare():
                for n, op in enumerate(node.ops):
                    ops = [*node.ops]
                    ops[n] = _COMPARE[type(op)]()
                    becomes(ast.Compare(node.left, ops, node.comparators))
            case ast.BoolOp():
                other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
                becomes(ast.BoolOp(other, node.values))
                for n in range(len(node.values)):
                    rest = [v for k, v in enumerate(node.values) if k != n]
                    becomes(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
            case ast.UnaryOp(op=ast.Not()):
                becomes(copy.deepcopy(node.operand))
            case ast.UnaryOp(op=ast.USub()):
                becomes(copy.deepcopy(node.operand))
            case ast.BinOp() if type(node.op) in _BINARY and not _is_text(node):
                becomes(ast.BinOp(node.left, _BINARY[type(node.op)](), node.right))
            case ast.IfExp():
                self._negate(node, "test", node.test)
            case ast.Constant():
                for value in _other_values(node.value):
                    becomes(ast.Constant(value))
            case ast.Attribute(value=ast.Name() as owner) if node.attr in self._members.get(owner.id, ()):
                members = self._members[owner.id]
                other_member = members[(members.index(node.attr) + 1) % len(members)]
                becomes(ast.Attribute(owner, other_member, node.ctx))
            case ast.Set() | ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()) if len(node.elts) > 1:
                for n, element in enumerate(node.elts):
                    if not isinstance(parent, ast.Subscript):
                        self._note(element, f"drop `{_shown(element)}`", node, "elts", n, None)
            case ast.Dict() if len(node.keys) > 1:
                for n, key in enumerate(node.keys):
                    if key is not None:
                        self._note(key, f"drop key `{_shown(key)}`", node, "keys", n, None)
            case ast.JoinedStr() | ast.FormattedValue():
                self._joined(node)
                return
            case _:
                pass
        for name, value in ast.iter_fields(node):
            if name not in ("ctx", "op", "ops"):
                self._field(node, name, value)

    def _joined(self, node: ast.expr) -> None:
        """In a text with values in it the values are changed, not the text around them."""
        for part in ast.walk(node):
            if isinstance(part, ast.FormattedValue) and not isinstance(part.value, ast.Constant):
                self._expression(part, "value", None, part.value)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _other_values(value: object) -> Iterator[str | bytes | bool | int | float]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case float():
            yield value + 1.0
        case bytes() if value:
            yield value + b"~"
        case str() if value and " " not in value:
            yield f"{value[:-1]}1" if value[-1].isdigit() and value[-1] != "1" else f"{value}~"
        case _:
            return


def _enum_members(tree: ast.Module) -> dict[str, list[str]]:
    """Name -> the members in capitals that this module uses of it, where it uses several."""
    used: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, member = node.value.id, node.attr
            if owner[:1].isupper() and member.isupper():
                used.setdefault(owner, set()).add(member)
    return {owner: sorted(members) for owner, members in used.items() if len(members) > 1}


def mutants(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    alike: Counter[tuple[str, str]] = Counter()
    found = []
    for index, (at, change, line, in_function, _) in enumerate(_Walk(ast.parse(source)).found):
        found.append(Mutant(module, at, change, alike[at, change], line, index, in_function))
        alike[at, change] += 1
    return found


def mutated(source: str, index: int) -> ast.Module:
    """The tree of the module with this one change."""
    tree = ast.parse(source)
    _Walk(tree).found[index][-1].apply()
    return ast.fix_missing_locations(tree)
