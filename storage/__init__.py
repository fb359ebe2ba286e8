"""`storage` remembers: the only package that speaks SQL, on SQLite and on PostgreSQL alike.

store.py     opens the database; `Store.begin()` is one transaction, `Store.read()` a read-only one
tables.py    the rows            columns.py   exact money, aware times, sealed text
vault.py     sealing and MACs    keys.py      canaries, rewrap, programs' key ids in use
audit.py     the chain           migrate.py   lock, look, copy, upgrade
requests decisions attempts outbox inbox alerts cards people programs readings
             queries, one subject each: functions that take a `Tx` first and return domain values

It knows nothing of Slack, HTTP or policy. Nothing is imported here, so that a command that needs no
database does not load SQLAlchemy.
"""
