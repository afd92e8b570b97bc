"""Is the index sound, and equal to the files? Checks, each with a repair, small before large.

Above the store and sync, whose promises it checks from outside; the facade calls it.
"""

from lancebrain.doctor.examine import examine
from lancebrain.doctor.findings import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "examine"]
