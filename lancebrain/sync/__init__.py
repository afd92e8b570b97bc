"""Keeping the index equal to the disk: look, plan, vectors, commit."""

from .collector import Change
from .engine import Engine
from .run import Run
from .wanted import Wanted

__all__ = ["Change", "Engine", "Run", "Wanted"]
