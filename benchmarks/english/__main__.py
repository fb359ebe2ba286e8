"""How well plain English is read, author by author: `make english` writes the table of docs/conversation.md.

With a folder of author files as its argument it measures those and prints the table instead.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bot import operations
from bot.intents import parse
from tests.support import authors
from tests.support.authors import Said, Verdict

PAGE: Final = Path(__file__).parents[2] / "docs" / "conversation.md"
_TABLE: Final = re.compile(r"(?<=<!-- authors -->\n).*?(?=<!-- /authors -->)", re.DOTALL)


@dataclass
class Score:
    """Counts by class: how many, right at once, right or offered; slots; what opened that should not have."""

    of: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    near: Counter[str] = field(default_factory=Counter)
    harm: list[str] = field(default_factory=list)
    flipped: int = 0

    def add(self, said: Said, verdict: Verdict) -> None:
        self.of[said.kind] += 1
        self.right[said.kind] += verdict.right
        self.near[said.kind] += verdict.near
        self.of["slots"] += verdict.slots
        self.right["slots"] += verdict.slots_right
        self.flipped += verdict.flipped
        if verdict.harm:
            self.harm.append(f"{said.author}: {said.text!r}: {verdict.harm}")

    def share(self, counted: Counter[str], *kinds: str) -> str:
        of = sum(self.of[kind] for kind in kinds)
        return f"{100 * sum(counted[kind] for kind in kinds) / of:.1f}" if of else "–"


def measured(folder: Path = authors.FOLDER, names: Sequence[str] = ()) -> dict[str, Score]:
    """The score of each author of a folder, and of all of them under "all"."""
    scores: dict[str, Score] = {}
    facts, kinds = authors.facts(), operations.kinds()
    for said in authors.said_by(names, folder):
        verdict = authors.judged(said, parse(said.text, facts, kinds=kinds))
        for name in (said.author, "all"):
            scores.setdefault(name, Score()).add(said, verdict)
    return scores


def rows(scores: dict[str, Score], names: dict[str, str]) -> Iterator[str]:
    yield (
        "| author | questions right | or offered | requests right | or offered | slots | left alone, refused | must ask"
        " | traps | harmful | flipped |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name, score in sorted(scores.items(), key=lambda pair: (pair[0] == "all", pair[0])):
        cells = (
            names.get(name, name),
            score.share(score.right, "question"),
            score.share(score.near, "question"),
            score.share(score.right, "wish"),
            score.share(score.near, "wish"),
            score.share(score.right, "slots"),
            score.share(score.right, "off_topic", "refusal"),
            score.share(score.right, "must_ask"),
            score.share(score.right, "trap"),
            str(len(score.harm)),
            str(score.flipped),
        )
        yield f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str]) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.english", description=summary)
    parser.add_argument(
        "folder", type=Path, nargs="?", help="measure the NN.jsonl files in it and print the table only"
    )
    folder: Path | None = parser.parse_args(arguments).folder
    if folder is not None:
        scores = measured(folder)
        if not scores:
            parser.error(f"no author files (NN.jsonl) in {folder}")
        print("\n".join(rows(scores, {})))
        print("\n".join(scores["all"].harm))
        return
    names = {name: f"{name}, training" for name in authors.TRAINING} | {
        name: f"{name}, development" for name in authors.DEVELOPMENT
    }
    parts = [measured(names=authors.TRAINING), measured(names=authors.DEVELOPMENT)]
    training, development = parts
    scores = {**training, **development}
    del scores["all"]
    scores |= {"all of training": training["all"], "all of development": development["all"]}
    lines = "\n".join(rows(scores, names))
    PAGE.write_text(
        _TABLE.sub(f"\n{lines}\n\n".replace("\\", r"\\"), PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )
    print(lines)
    print("\n".join([*training["all"].harm, *development["all"].harm]))


if __name__ == "__main__":
    main(sys.argv[1:])
