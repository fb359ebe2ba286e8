"""What a database does not do, said in sentences that name it: what is in the way, and what to do.

`in_words` knows what SQLite and PostgreSQL say, `raised` makes errors of it that end a start or a command.
"""

from storage.faults.in_words import explained, is_damage, is_out_of_use, lacks_room
from storage.faults.raised import fault_of, named

__all__ = ["explained", "fault_of", "is_damage", "is_out_of_use", "lacks_room", "named"]
