"""Settings: the environment (secrets and addresses) and `countersign.toml` (what people decide).

Both are pydantic models, read once at start and passed on as values; nothing else looks at the environment.
A value is taken as it is written, never converted from another type. A name that is not known is a problem,
and every problem is reported at once, as a sentence for people.

    environment   `Settings`: one field for each variable
    master_key    reading the master key from where the environment says it is
    file          `Config`: the whole file, as the values that the rest of the bot uses
    sections      the tables of the file, one class for each
    policy        the tables that say who decides what: people, policies, limits
    forms         the forms of values: durations, dollars, channels, people
    problems      from pydantic's errors to sentences
    reference     the pages and the JSON Schema that are made from the models

To add a setting, add one field with its default and its description, then run `make docs`.
"""

from bot.config.environment import PARTNER_PATH, Bind, Need, Settings
from bot.config.file import Config, Model
from bot.config.forms import write_duration
from bot.config.master_key import MasterKeySource
from bot.config.problems import ConfigError, SettingsError
from bot.config.sections import Poll

__all__ = [
    "PARTNER_PATH",
    "Bind",
    "Config",
    "ConfigError",
    "MasterKeySource",
    "Model",
    "Need",
    "Poll",
    "Settings",
    "SettingsError",
    "reference",
    "write_duration",
]
