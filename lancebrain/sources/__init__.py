"""Sources: folders → the files in them that are to be documents, and what is left out and why.

Nothing is read here but ignore files. ``discover`` is the first step of every sync; the same
rules tell the watcher which events matter.
"""

from lancebrain.sources.discover import Discovery, State, discover, root_state
from lancebrain.sources.paths import document_path, file_of, source_of
from lancebrain.sources.rules import IgnoreRules
from lancebrain.sources.times import times_of

__all__ = [
    "Discovery",
    "IgnoreRules",
    "State",
    "discover",
    "document_path",
    "file_of",
    "root_state",
    "source_of",
    "times_of",
]
