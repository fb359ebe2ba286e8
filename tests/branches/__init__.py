"""Which branches of the core no test of its own rooms takes: `python -m tests.branches`, or `make branches`.

Coverage.py measures, in each process of pytest's, and what it has not seen is compared with the list of branches that
may stay without a test, each with its reason (`excepted.toml`). A branch is named by its code, never by a line number,
so that the list outlives an edit of the lines above.
"""
