"""The index in time: history, checkpoints, what changed, going back, bringing back, forgetting.

Every commit is a version already; this reads the versions and the records beside them, and
writes only through the store. The handle that serves is never moved: reading as of a time is a
snapshot of its own.
"""

from lancebrain.store import Checkpoint, Checkpoints
from lancebrain.versions.diff import diff
from lancebrain.versions.document_history import DocumentVersion, document_history
from lancebrain.versions.forget import Forgot, allow, forget
from lancebrain.versions.history import history, made_at
from lancebrain.versions.notes import NoteRestorer, RestoredFile
from lancebrain.versions.problems import problems_in_time
from lancebrain.versions.proof import Proof
from lancebrain.versions.refs import resolve
from lancebrain.versions.rollback import resume, rollback
from lancebrain.versions.room import Optimized, optimize

__all__ = [
    "Checkpoint",
    "Checkpoints",
    "DocumentVersion",
    "Forgot",
    "NoteRestorer",
    "Optimized",
    "Proof",
    "RestoredFile",
    "allow",
    "diff",
    "document_history",
    "forget",
    "history",
    "made_at",
    "optimize",
    "problems_in_time",
    "resolve",
    "resume",
    "rollback",
]
