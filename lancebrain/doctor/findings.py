"""What an examination gives: findings, for people and for machines."""

from __future__ import annotations

from dataclasses import dataclass

SHOWN_PATHS = 5
"""Of a finding; more would hide the others."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        code: stable, kebab-case, for machines.
        message: one sentence for people.
        repair: what ``fix`` does about it, or what a person has to do.
        paths: the first few documents or sources concerned.
        count: how many are.
        fixable: whether ``fix`` can repair it.
        fixed: whether it did.
    """

    code: str
    message: str
    repair: str
    paths: tuple[str, ...] = ()
    count: int = 0
    fixable: bool = True
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of an examination.

    Attributes:
        version: of the index afterwards; 0 if it cannot be opened.
        checks: names of the checks that were made.
        findings: with ``fixed`` set where a repair was made and the check is clean since.
    """

    version: int
    checks: tuple[str, ...]
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def is_healthy(self) -> bool:
        """Nothing is wrong (any more)."""
        return all(finding.fixed for finding in self.findings)
