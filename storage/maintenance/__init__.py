"""What keeps a database in good order: can it be written, how much is in it, and copies of it that can be put back."""

from storage.maintenance.copies import Copied, CopyRefused, back_up, put_back
from storage.maintenance.figures import Figures, figures
from storage.maintenance.write_probe import misplaced, why_not_written

__all__ = [
    "Copied",
    "CopyRefused",
    "Figures",
    "back_up",
    "figures",
    "misplaced",
    "put_back",
    "sequences",
    "why_not_written",
]
