"""Rows that cannot be read, which no statement of this process meets.

`left_out` leaves them out, `unreadable_row` names them. `storage.protection.unreadable_rows` finds them.
"""

from storage.set_aside.left_out import SetAside, as_stored, tables_of
from storage.set_aside.unreadable_row import Key, UnreadableRow, shown, text_of

__all__ = ["Key", "SetAside", "UnreadableRow", "as_stored", "shown", "tables_of", "text_of"]
