"""Which intents a text may mean where the rules are not sure: ranked, to be offered. Nothing here opens a form."""
