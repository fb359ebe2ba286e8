"""What keeps a database in good order: can it be written, how much is in it, and copies of it that can be put back."""

from storage.maintenance.figures import Figures, figures
from storage.maintenance.write_probe import lacks_room, why_not_written

__all__ = ["Figures", "figures", "lacks_room", "why_not_written"]
