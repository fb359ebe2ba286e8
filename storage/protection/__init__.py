"""What keeps whoever can write to the database, without a master key, from directing the bot.

`signed_rows` signs rows that decide who gets what, `column_protection` says for each column why changing it gains
nothing, and `upgrades` signs the rows of an older database once. `unreadable_rows` finds what nothing can read.
"""

from storage.protection.signed_rows import (
    CODE_RECIPIENT,
    CONSENT,
    DETAILS_LINK,
    MUTE,
    PAUSE,
    PROGRAM,
    SIGNED_TABLES,
    RowRead,
)

__all__ = [
    "CODE_RECIPIENT",
    "CONSENT",
    "DETAILS_LINK",
    "MUTE",
    "PAUSE",
    "PROGRAM",
    "SIGNED_TABLES",
    "RowRead",
    "chain_replay",
    "column_protection",
    "signed_rows",
    "unreadable_rows",
    "upgrades",
]
