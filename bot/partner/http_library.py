"""httpx without its command line, for which it would import rich, pygments and click: a tenth of a start."""

import sys
from types import ModuleType

_COMMAND_LINE = "httpx._main"

if "httpx" in sys.modules:
    import httpx
else:
    # What cannot be imported is to httpx what is not installed, and it does without.
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]
    modules[_COMMAND_LINE] = None
    try:
        import httpx
    finally:
        del modules[_COMMAND_LINE]

__all__ = ["httpx"]
