"""The float, its history, the ledger, fees, earnings and funding, as look-ups show them.

Reads only; every figure comes with the time when it was read.
"""

__all__ = [
    "float_history",
    "float_lookups",
    "funding_lookups",
    "ledger_lookups",
]
