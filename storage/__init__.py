"""`storage` remembers: the only package that speaks SQL, on SQLite and on PostgreSQL alike.

store.py     opens the database; `Store.begin()` is one transaction, `Store.read()` a read-only one
database.py  addresses, pragmas, the file lock      errors.py    the error tree
tables.py    the tables      columns.py   exact money, aware times, sealed text
vault.py     sealing, MACs   keys.py      canaries, keys in use, rewrap
audit.py     the chain       migrate.py   look, lock, copy, upgrade
requests decisions attempts drafts outbox inbox alerts cards people programs readings meta
             queries, one subject each: functions that take a `Tx` first and return domain values

It knows nothing of Slack, HTTP or policy. Nothing is imported here, so that a command that needs no
database does not load SQLAlchemy.
"""
