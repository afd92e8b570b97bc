"""What the server works with: the live index, and who is to be told of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lancebrain.mcp_server.failures import told
from lancebrain.mcp_server.notifier import Notifier
from lancebrain.service.live import Live

if TYPE_CHECKING:
    from lancebrain.brain import Brain
    from lancebrain.errors import LancebrainError

_HEAD_START_S = 3.0
"""The program that started us starts itself, and other servers, and asks for the tools."""


class App(Live):
    """One index behind one server; see also :class:`Live`.

    Args:
        read_only: write no notes.
        notifier: whom to tell of changes.
    """

    def __init__(
        self,
        brain: Brain | LancebrainError,
        *,
        read_only: bool = False,
        follow: bool = True,
        notifier: Notifier | None = None,
    ) -> None:
        super().__init__(brain, follow=follow, head_start_s=_HEAD_START_S)
        self.read_only = read_only
        self.notifier = notifier or Notifier()

    @property
    def doing_in_words(self) -> str:
        """What goes on, in a few words."""
        match self.doing:
            case "opening":
                return "opening the index"
            case "loading":
                return "loading the model; questions are answered by words alone until then"
            case "no-model":
                return f"the model cannot be loaded: {_why(self.model_failure)}"
            case "failing":
                return f"following the files fails: {_why(self.last_error)}"
            case "on-demand":
                return "not following the files, which are looked at before a search"
            case "catching-up":
                return "taking in changes"
            case "up-to-date":
                return "up to date"


def _why(error: LancebrainError | None) -> str:
    return told(error) if error else ""
