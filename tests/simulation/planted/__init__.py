"""Bugs planted on purpose, to see that the simulation finds each: in how many schedules is the detection curve.

Nothing here runs unless it is asked for.

    bug         what a planted bug is
    sending     what leaves for the API, and when
    approving   who decides, and for how long that counts
    outcomes    what became of a request
    messages    what people can read
    processes   claims, leases, locks, loops
    around      terms, people, the ledger, events, copies, links, what is kept
    catalogue   all of them
    curve       how soon each is found
"""

from tests.simulation.planted.catalogue import BUGS
from tests.simulation.planted.curve import Curve

__all__ = ["BUGS", "Curve"]
