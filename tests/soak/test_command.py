"""The soak goes on where it ended, does all of its parts, and says what was proved and what broke."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.simulation import soak as simulation
from tests.soak import command, proved
from tests.soak.parts import COUNTED, ROOT, Part, all_parts, files_with_more

WRITES_ITS_SEED = "import os, pathlib; print(os.environ['SEED'], os.environ['SIZE'], file=open('seeds', 'a'))"


def a_part(name: str, code: str, goal: int = 10, turn: int = 5) -> Part:
    return Part(name, "things", goal, turn, ("-c", code), size="SIZE")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programmes run and what they proved is kept; nothing of the simulation."""
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(proved, "PROVED", tmp_path / "proved.jsonl")
    monkeypatch.setattr(simulation, "read", list)
    return tmp_path


def soak(monkeypatch: pytest.MonkeyPatch, turns: int, *parts: Part) -> int:
    """Run so many turns of these parts; the exit code."""
    monkeypatch.setattr(command, "all_parts", lambda: list(parts))
    moments = iter([*[0.0] * (1 + turns), 10.0**9])
    monkeypatch.setattr(command, "_now", lambda: next(moments))
    return command.main([])


def test_turns_go_round_by_what_was_done_least_and_each_has_a_seed_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = a_part("one", WRITES_ITS_SEED), a_part("other", WRITES_ITS_SEED, goal=20)

    assert soak(monkeypatch, 2, one, other) == 0
    assert soak(monkeypatch, 1, one, other) == 0, "as another day would"

    assert [(turn.part, turn.seed, turn.size) for turn in proved.turns()] == [
        ("one", 100_000, 5),
        ("other", 100_000, 5),
        ("other", 200_000, 5),
    ]
    assert (folder / "seeds").read_text() == "100000 5\n100000 5\n200000 5\n"
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-2:]]
    assert [row[:4] for row in rows] == [["one", "5", "10", "things"], ["other", "10", "20", "things"]]


def test_what_breaks_is_shown_with_its_output_and_how_to_run_it_again_and_the_others_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = a_part("bad", "print('a promise was broken'); raise SystemExit(1)"), a_part("good", "")

    assert soak(monkeypatch, 3, bad, good) == 1

    said = capsys.readouterr().out
    assert said.count("a promise was broken") >= 1
    assert f"SOAK=1 SEED=100000 SIZE=5 {Path(sys.executable).name.split('3')[0]} -c" in said
    assert [turn.part for turn in proved.turns()] == ["bad", "good", "bad"]
    assert proved.done(bad, proved.turns()) == 0
    assert "seed 100000" in next(line for line in said.splitlines()[-2:] if line.startswith("bad"))


def test_what_breaks_time_after_time_is_left_and_the_others_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a machine without PostgreSQL a part would else fill the file with turns that prove nothing."""
    bad, good = a_part("bad", "raise SystemExit(1)"), a_part("good", "")

    assert soak(monkeypatch, 8, bad, good) == 1
    assert [turn.part for turn in proved.turns()].count("bad") == 3
    assert "bad broke 3 times one after another" in capsys.readouterr().out

    assert soak(monkeypatch, 8, bad) == 1, "and where nothing else is left, it ends"


def test_an_interrupt_notes_nothing_of_the_turn_under_way(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_still_running", interrupted)

    assert soak(monkeypatch, 1, a_part("one", "import time; time.sleep(60)")) == 0
    assert proved.turns() == []


def test_an_unknown_part_is_refused_with_the_names_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--only", "no such part"]) == 2

    assert set(capsys.readouterr().out.splitlines()[1:]) == {part.name for part in all_parts()}


def test_each_counted_test_is_there_and_reads_its_size_and_seed() -> None:
    for part in COUNTED:
        file, _, test = part.words[-1].partition("::")
        if test:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert f"def {test.split('[')[0]}(" in text
            assert f'"{part.size}"' in text
            assert '"SEED"' in text or "a_seed()" in text


def test_a_file_of_which_each_test_for_the_soak_is_counted_has_no_whole_run() -> None:
    """There would be no test in it, which pytest calls a failure: some have two marks."""
    assert "tests/thief/test_junk.py" not in files_with_more()


def test_every_test_for_the_soak_belongs_to_a_part() -> None:
    marked = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"pytest\.mark\.(soak|sampled|walk|by_turns)\b", path.read_text(encoding="utf-8"))
    }
    counted = {part.words[-1].partition("::")[0] for part in COUNTED}
    here = {Path(__file__).relative_to(ROOT).as_posix(), "tests/soak/test_image.py"}

    assert marked - counted - here == set(files_with_more()) - counted


def test_what_broke_in_the_simulation_is_not_counted_as_proved(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = simulation.Proof("abc", 1, 100, 5000, (7, 9), 10.0, "2026-03-02T09:00:00+00:00")
    monkeypatch.setattr(simulation, "read", lambda: [run, replace(run, first=101, last=150, broken=())])
    part = next(part for part in COUNTED if part.name == "simulation")

    assert proved.done(part, proved.turns()) == 148
    assert "seed 7, seed 9" in proved.table([part], proved.turns(), "abc")
