"""Names and explanations are in the field's words: what a stranger would not guess is in none of them.

No file and no class has a private name; no docstring, no comment and no test's name holds a private word.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.source_trees import tree_of, walk

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "storage", "sandbox")

#: Private words of ours, and what the field says instead (docs/glossary.md).
PRIVATE = {
    "anchors": "audit_anchors",
    "asked": "commands",
    "endings": "effects",
    "gate": "presend_checks, slot_checks",
    "heard": "received",
    "house": "status, settings",
    "legs": "purchase_legs",
    "looking": "lookup",
    "owed": "outbox_messages",
    "pictures": "view_models",
    "refresh": "review",
    "talking": "conversation",
    "upkeep": "maintenance",
    "verifying": "verification",
}
#: A picture of pixels is one.
PIXELS = {"handlers.views.charts.Picture", "handlers.views.chart_picture"}

#: Private words and archaic forms, and what is written instead. Between backticks they are names of the code.
PLAIN = {
    r"told(?! (apart|otherwise|to)\b)": "reported, shown, sent, notified",
    r"hears?|heard": "received, notified",
    r"mend(s|ed|ing)?": "fix",
    r"asked for by": "requested by",
    r"office": "the people who decide, Countersign",
    r"ow(e|es|ed|ing)": "to send, waiting to be sent; a debt",
    r"house": "Countersign, status, settings",
    r"for ever": "permanently",
    r"anew": "again",
    r"at this moment": "now",
    r"wish(es|ed)?": "request, message",
    r"besides": "beside, apart from, as well",
    r"landed after all": "completed late",
    r"break glass": "emergency",
}
#: Not held to it yet: the simulation's words are its plan's own.
EXPLAINED_ELSEWHERE = ROOT / "tests" / "simulation"
#: The titles of tests, those of the simulation among them.
GENERATED_FROM_TESTS = {"rules.md"}


#: The same in the names that the code gives to things.
IDENTIFIERS = frozenset(
    {
        *("told", "heard", "hear", "hears", "mend", "mends", "mended", "house", "houses", "anew", "landed"),
        *("owe", "owes", "owed", "owing", "picture", "pictures", "wish", "wishes", "wished"),
    }
)
#: What the API and Slack call so; and a picture of pixels is one.
NOT_OURS = frozenset(
    {
        *("owed_usd", "image_original_picture"),
        *("Picture", "picture_of", "chart_picture", "send_picture", "_send_picture"),
    }
)
#: Where a picture is one of pixels, and the column that is called so until a migration is worth it.
EXEMPT = (
    *("handlers/views/charts.py", "tests/handlers/test_charts.py", "tests/handlers/test_drawing.py"),
    "storage/tables.py",
)
#: What no sentence of the product says either, where it reaches people: one word for one thing (docs/glossary.md).
SPOKEN = {
    r"the service": "your card provider",
    r"going on|goes on": "continues, is still active, resumes",
    r"asked for|asks? for it": "requested",
    r"reconciled?": "checked with the card provider",
    r"lapses?|lapsed": "expired",
    r"this moment|a moment": "now, this date and time, shortly",
    r"looks? after": "is on it",
    r"as things are": "right now",
    r"at the word of|the word of|own word": "confirmed by",
    r"is no (?!longer\b|known\b)": "isn't a; but `There is no …`",
    r"buy again": "the cardholder must retry the purchase",
    r"were you to": "if you",
    r"committed": "held",
    r"(?:this|our) bot(?:'s)?": "Countersign",
    r"exchange the (?:API )?key": "replace the key",
    r"as it is cannot help": "Retrying won't help",
    r"(?:its|the) card (?:shows|says)": "its message; a card is a payment card",
    r"fault of its own": "an internal error",
    r"was so for": "was open for",
    r"good until": "valid until",
}
#: Sentences that stay: what they say is signed with requests that wait, or not ours.
SPOKEN_OTHERWISE = {"bot/operations/webhook_register.py": "the service"}
#: Words of people, not ours: what plain English is recognised by.
WORDS_OF_PEOPLE = ("bot/intents", "storage/migrations")


def names() -> Iterator[str]:
    """Every module and class of the product, with where it stands."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield module
            for node in walk(tree_of(path)):
                if isinstance(node, ast.ClassDef):
                    yield f"{module}.{node.name}"


def private_words(name: str) -> list[str]:
    last = name.rpartition(".")[2]
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", last)]
    whole = {last.lower(), *words}
    return sorted(word for word in PRIVATE if word in whole and last.lower() != PRIVATE[word]) + (
        ["picture"] if "picture" in words else []
    )


def test_no_file_and_no_class_has_a_private_name() -> None:
    found = {name: words for name in names() if (words := private_words(name)) and name not in PIXELS}

    assert {name: words for name, words in found.items() if not name.endswith("audit_anchors")} == {}


@pytest.mark.parametrize(
    "name", ["bot.services.owed", "bot.x.RequestPicture", "bot.x.Heard", "handlers.gate"]
)
def test_a_private_name_is_found(name: str) -> None:
    assert private_words(name)


def bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of whatever is given a name: functions, classes, parameters, variables, attributes, imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        if isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


_ANY_IDENTIFIER = re.compile("|".join(IDENTIFIERS), re.IGNORECASE)


def private_identifiers(source: str) -> list[str]:
    """Line and name of each; `test_…` is held by what explains, as a sentence.

    A source in which no such word stands anywhere is not looked at closely.
    """
    if not _ANY_IDENTIFIER.search(source):
        return []
    return [
        f"{line}: {name}"
        for line, name in bound(ast.parse(source))
        if not name.startswith("test_")
        and name not in NOT_OURS
        and IDENTIFIERS & {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}
    ]


def test_nothing_in_the_code_and_in_its_tests_is_given_a_private_name() -> None:
    paths = [
        path for folder in (*PACKAGES, "tests", "docs") for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    found = {
        name: private_identifiers(path.read_text(encoding="utf-8"))
        for path in paths
        if not path.is_relative_to(EXPLAINED_ELSEWHERE)
        and (name := path.relative_to(ROOT).as_posix()) not in EXEMPT
    }

    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "told = 1",
        "def hear() -> None: ...",
        "def f(heard_at: int) -> None: ...",
        "self.request_picture = 1",
        "import status as house",
        "class Wish: ...",
        "MOST_TOLD: int = 3",
        "for _owed in (): ...",
    ],
)
def test_a_private_name_of_anything_is_found(source: str) -> None:
    assert private_identifiers(source)


def explanations(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring, comment and test's name, without what stands between backticks."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name.replace("_", " ")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno, _without_code(str(node.value.value))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], _without_code(token.string)


def _without_code(text: str) -> str:
    return " ".join(re.sub(r"`[^`]*`", "", text).split())


_WORDS = re.compile(rf"\b({'|'.join(PLAIN)})\b", re.IGNORECASE)


def private_in(source: str) -> list[str]:
    """Line and word of each; a source in which none stands anywhere is not looked at closely."""
    if not _WORDS.search(" ".join(re.split(r"[\s_#]+", source))):
        return []
    return [f"{line}: {found[0]}" for line, text in explanations(source) for found in _WORDS.finditer(text)]


def test_no_docstring_no_comment_and_no_tests_name_holds_a_private_word() -> None:
    paths = [
        path for folder in (*PACKAGES, "tests", "docs") for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    read = [
        path
        for path in paths
        if not path.is_relative_to(EXPLAINED_ELSEWHERE) and path.name != "test_names.py"
    ]
    found = {str(path.relative_to(ROOT)): private_in(path.read_text(encoding="utf-8")) for path in read}

    assert {path: words for path, words in found.items() if words} == {}


_SPOKEN = re.compile(rf"(?<!There )\b({'|'.join([*PLAIN, *SPOKEN])})\b", re.IGNORECASE)


def spoken(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of every sentence in the code: strings with a space in them that are no docstrings."""
    explains = {id(node.value) for node in walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in walk(tree) if isinstance(node, ast.Constant) and id(node) not in explains)
    for node in constants:
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, _without_code(node.value)


def private_in_sentences(tree: ast.Module) -> list[str]:
    return [f"{line}: {found[0]}" for line, text in spoken(tree) for found in _SPOKEN.finditer(text)]


def test_no_sentence_that_people_read_holds_a_private_word() -> None:
    found = {}
    for folder in ("bot", "handlers", "storage"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            words = private_in_sentences(tree_of(path))
            if name in SPOKEN_OTHERWISE:
                words = [word for word in words if not word.endswith(SPOKEN_OTHERWISE[name])]
            if words and not name.startswith(WORDS_OF_PEOPLE):
                found[name] = words

    assert sorted(found.items()) == []


@pytest.mark.parametrize(
    "sentence",
    ["Contact the service.", "Sending goes on.", "It is reconciled", "This is no id.", "Bob is told"],
)
def test_a_private_word_in_a_sentence_is_found(sentence: str) -> None:
    assert private_in_sentences(ast.parse(f"text = {sentence!r}"))


def test_no_page_of_the_documentation_holds_a_private_word() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = {
        page.name: [word[0] for word in _WORDS.finditer(_without_code(page.read_text(encoding="utf-8")))]
        for page in pages
        if page.name not in GENERATED_FROM_TESTS
    }

    assert {page: words for page, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "source",
    [
        "def test_the_requester_is_told() -> None: ...",
        '"""A message owed\nfor\never."""',
        "x = 1  # ours to mend",
        'class A:\n    """Says it anew."""',
        'LATE = 5\n"""Since when it was heard."""',
    ],
)
def test_a_private_word_is_found_wherever_it_explains(source: str) -> None:
    assert private_in(source)


@pytest.mark.parametrize(
    "source", ["told = heard", '"""Two cards are told apart by `owed`."""', 'text = "for ever"']
)
def test_names_of_the_code_and_what_slack_shows_are_not_explanations(source: str) -> None:
    assert private_in(source) == []
