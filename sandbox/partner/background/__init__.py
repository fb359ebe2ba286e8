"""What happens by itself as the clock moves: timers fall due, events are delivered.

`due_timers` runs what is due, in order; `delivery_queue` says which deliveries leave now, and `deliveries` sends
one signed event to the registered endpoint, tried eight times (Delivery rules). None leaves this machine.
"""

from __future__ import annotations

from sandbox.partner.background.deliveries import ATTEMPTS_MOST, Mode, Timestamps, signature

__all__ = ["ATTEMPTS_MOST", "Mode", "Timestamps", "deliveries", "delivery_queue", "due_timers", "signature"]
