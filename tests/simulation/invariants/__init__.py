"""What must be true: after every commit, at every call that leaves, after every step, and at the end.

D is the bot's database, S the API's sandbox, P what Slack shows. Numbers are those of the written trust model (I-1 to
I-24); rules without a number are sentences of their own. A broken promise is a `Violation`; the first one ends a run.

    record       what the checks know: what was broken, what left, who was gone since when
    moves        requests along their graph, at every commit
    approvals    who approved, and within which limits
    departures   calls that leave
    truth        outcomes against the sandbox's own books
    reports      messages and events
    alerts       each ends with what it is about
    money        what is said of money
    purchases    a purchase is what its events say
    relayed      copies for the other system
    links        one-time links to card details
    secrecy      secrets, codes and personal data
    watch        all of them, and when each looks
"""

from tests.simulation.invariants.record import Violation
from tests.simulation.invariants.watch import Watch

__all__ = ["Violation", "Watch"]
