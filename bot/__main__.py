"""`python -m bot` is `countersign`."""

from bot.cli import main

main()
