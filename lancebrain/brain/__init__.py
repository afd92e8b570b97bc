"""The facade over everything: what every front calls, and the only thing it calls.

Fronts also find here the types of what the facade returns; they are imported for checking alone,
as their modules load LanceDB.
"""

from typing import TYPE_CHECKING

from lancebrain.brain.facade import Brain
from lancebrain.brain.opening import open, write_config

if TYPE_CHECKING:
    from lancebrain.analysis.result import Analysis as Analysis
    from lancebrain.doctor import Diagnosis as Diagnosis
    from lancebrain.embedders.measuring import Cost as Cost
    from lancebrain.store import Checkpoint as Checkpoint
    from lancebrain.sync.automatic import Advice as Advice
    from lancebrain.sync.worker import Worker as Worker
    from lancebrain.versions import Forgot as Forgot
    from lancebrain.versions import Optimized as Optimized
    from lancebrain.versions import Proof as Proof
    from lancebrain.versions import RestoredFile as RestoredFile

__all__ = ["Brain", "open", "write_config"]
