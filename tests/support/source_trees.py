"""The syntax trees of the product's files: each is parsed once, and its nodes are listed once, in a test process."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file; whoever asks must not change it."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def walk(node: ast.AST) -> Iterable[ast.AST]:
    """What `ast.walk` gives, in its order; of a whole module it is remembered."""
    return _nodes(node) if isinstance(node, ast.Module) else ast.walk(node)


@cache
def _nodes(module: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(module))
