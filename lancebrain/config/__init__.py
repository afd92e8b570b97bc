"""Configuration: what is to be indexed, where the index is, and how things are done.

The lowest layer but types: it knows files and variables, and nothing of what the settings are
used for.
"""

from lancebrain.config.editing import (
    add_source_to_config,
    remove_source_from_config,
    set_model_in_config,
    write_default_config,
)
from lancebrain.config.entries import parse_source, source_from_folder, source_name_for
from lancebrain.config.load import load_settings
from lancebrain.config.remembered import (
    forget_source,
    remember_folder,
    remember_source,
    remembered_sources,
)
from lancebrain.config.settings import Settings
from lancebrain.places import find_config_file, user_config_file

__all__ = [
    "Settings",
    "add_source_to_config",
    "find_config_file",
    "forget_source",
    "load_settings",
    "parse_source",
    "remember_folder",
    "remember_source",
    "remembered_sources",
    "remove_source_from_config",
    "set_model_in_config",
    "source_from_folder",
    "source_name_for",
    "user_config_file",
    "write_default_config",
]
