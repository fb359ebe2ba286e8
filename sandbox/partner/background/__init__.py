"""What happens by itself as the clock moves: timers fall due, events are delivered.

`due_timers` runs what is due, in order; `deliveries` sends signed events to the registered endpoint, tried
eight times (Delivery rules). A delivery never leaves this machine.
"""

from __future__ import annotations

from sandbox.partner.background.deliveries import ATTEMPTS_MOST, Mode, signature

__all__ = ["ATTEMPTS_MOST", "Mode", "deliveries", "due_timers", "signature"]
