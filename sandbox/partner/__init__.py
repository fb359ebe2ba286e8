"""A simulator of the Card Issuing Partner API: stateful, transactional, on its own clock.

It follows the API's document, and where the document is silent a written guess with a switch
(`accounts.Settings`). Not a security boundary: it listens on loopback, for pretend money only.

Reading order: `surface` (the table of operations), `core` (the order of checks), `cards`,
`moves`, `funding` (what the calls do), `ledger` (the float), `control` (the tester's hand).
"""
