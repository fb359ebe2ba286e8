"""Go on with the long programmes for an hour: `python -m tests.soak`, which is what `make soak` runs."""

import sys

from tests.soak.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
