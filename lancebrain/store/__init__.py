"""The Lance table and what lies beside it in an index folder. The only importer of lancedb."""

from .beside import write_beside
from .candidates import Candidate
from .commit_log import CommitLog
from .decode import DocumentStat
from .hold import Hold, HoldInfo
from .locations import Location
from .maintenance import MaintenanceReport
from .rows import RowBatch
from .schema import StoreInfo
from .snapshot import Snapshot
from .table import Store
from .vector_cache import VectorCache

__all__ = [
    "Candidate",
    "CommitLog",
    "DocumentStat",
    "Hold",
    "HoldInfo",
    "Location",
    "MaintenanceReport",
    "RowBatch",
    "Snapshot",
    "Store",
    "StoreInfo",
    "VectorCache",
    "write_beside",
]
