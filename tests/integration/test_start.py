"""What a start costs: processor time of the imports, as `python -m benchmarks bench_start` measures it in full."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import bench_start

#: With bytecode as after an install. It was 5.4 when patterns and both databases' dialects were loaded by every start,
#: and 5.0 when this was written; the models of the tables are most of what is left.
MOST_TIMES_BOLT = 5.6
# Of so few the least of both are seldom of one speed of a machine that others work on, too.
ROUNDS = 6


@pytest.mark.timed
@pytest.mark.timeout(300)  # the first round compiles all that is imported
def test_the_bot_is_imported_in_few_times_what_bolt_takes(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}

    rounds = [
        [bench_start.processor_s(way, environ) for way in (bench_start.BOLT, bench_start.BOT)]
        for _ in range(ROUNDS + 1)
    ][1:]

    # The least of each: what else the machine does only adds to it.
    bolt, bot = (min(times) for times in zip(*rounds, strict=True))
    assert bot / bolt <= MOST_TIMES_BOLT
