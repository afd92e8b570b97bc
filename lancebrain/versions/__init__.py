"""The index in time: history, checkpoints, what changed, going back, notes brought back.

Every commit is a version already; this reads the versions and the records beside them, and
writes only through the store. The handle that serves is never moved: reading as of a time is a
snapshot of its own.
"""

from lancebrain.store import Checkpoint, Checkpoints
from lancebrain.versions.diff import diff
from lancebrain.versions.history import history
from lancebrain.versions.notes import NoteRestorer
from lancebrain.versions.refs import resolve
from lancebrain.versions.rollback import resume, rollback

__all__ = [
    "Checkpoint",
    "Checkpoints",
    "NoteRestorer",
    "diff",
    "history",
    "resolve",
    "resume",
    "rollback",
]
