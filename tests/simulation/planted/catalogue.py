"""All planted bugs, by name."""

from __future__ import annotations

from tests.simulation.planted import approving, messages, outcomes, processes, sending
from tests.simulation.planted.bug import Bug

BUGS: dict[str, Bug] = {
    bug.name: bug for bug in (*sending.BUGS, *approving.BUGS, *outcomes.BUGS, *messages.BUGS, *processes.BUGS)
}
