"""The simulator as a server: `serve` starts one, `Running` is one that runs.

`answering` takes an API request through the order of checks to its answer, free of any web framework;
`build_world` and `standing_key` make a simulator without a server.
"""

from __future__ import annotations

from sandbox.partner.server.http_app import for_loopback
from sandbox.partner.server.serving import Running, build_world, serve, standing_key

__all__ = ["Running", "answering", "build_world", "for_loopback", "serve", "standing_key"]
