"""Runs the sandbox as `python -m`: both halves, as the command does."""

from __future__ import annotations

import sys

from sandbox.command import main

sys.exit(main())
