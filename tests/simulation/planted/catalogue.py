"""All planted bugs, by name."""

from __future__ import annotations

from tests.simulation.planted import approving, around, messages, outcomes, processes, sending
from tests.simulation.planted.bug import Bug

_ALL = (
    *(*sending.BUGS, *approving.BUGS, *outcomes.BUGS),
    *(*messages.BUGS, *processes.BUGS, *around.BUGS),
)
BUGS: dict[str, Bug] = {bug.name: bug for bug in _ALL}
