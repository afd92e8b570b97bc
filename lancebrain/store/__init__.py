"""The Lance table and what lies beside it in an index folder. The only importer of lance and
lancedb."""

from .beside import write_beside
from .candidates import Candidate
from .changing import Changed
from .checkpoints import Checkpoint, Checkpoints
from .commit_log import CommitLog
from .decode import DocumentStat
from .forgotten import Forgotten, ForgottenEntry
from .hold import Hold, HoldInfo
from .locations import Location
from .maintenance import AT_REST, TINY_PIECES, WHILE_FILLING, MaintenanceReport, Tolerance
from .passages import Passages, ShownChunk, ShownDocument
from .planned import ModelPlan, PlannedChange
from .recall import ENOUGH, Recall
from .rewriting import Rewritten
from .rows import RowBatch
from .schema import StoreInfo
from .snapshot import Snapshot
from .storage import Storage, Where, storage_at
from .table import Store
from .vector_cache import VectorCache

__all__ = [
    "AT_REST",
    "ENOUGH",
    "TINY_PIECES",
    "WHILE_FILLING",
    "Candidate",
    "Changed",
    "Checkpoint",
    "Checkpoints",
    "CommitLog",
    "DocumentStat",
    "Forgotten",
    "ForgottenEntry",
    "Hold",
    "HoldInfo",
    "Location",
    "MaintenanceReport",
    "ModelPlan",
    "Passages",
    "PlannedChange",
    "Recall",
    "Rewritten",
    "RowBatch",
    "ShownChunk",
    "ShownDocument",
    "Snapshot",
    "Storage",
    "Store",
    "StoreInfo",
    "Tolerance",
    "VectorCache",
    "Where",
    "storage_at",
    "write_beside",
]
