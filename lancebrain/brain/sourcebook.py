"""Adding and removing sources, wherever they are kept: a configuration file, or the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lancebrain.brain.access import Access
from lancebrain.brain.roots import absolute, resolve_named
from lancebrain.errors import ConfigError, UsageError
from lancebrain.types import Source


class SourceBook:
    """The sources of a facade.

    Args:
        access: its settings are read again after every change.
        origin: where the sources are configured, for messages.
    """

    def __init__(self, access: Access, origin: str) -> None:
        self._access = access
        self._origin = origin

    def scope(
        self, paths: Iterable[Path | str], *, remember: bool
    ) -> tuple[Sequence[str] | None, tuple[Source, ...]]:
        """What a sync of these paths looks at: document paths (None: all), and new sources.

        Args:
            remember: keep the new sources with the index.

        Raises:
            UsageError: a path that does not exist, or a file in no source.
        """
        from lancebrain.config import remember_folder, source_from_folder

        settings = self._access.settings
        named = resolve_named(settings.sources, paths)
        added: list[Source] = []
        for folder in named.new_folders:
            taken = {source.name for source in (*settings.sources, *added)}
            if remember:
                added.append(remember_folder(settings.index, folder, taken=taken))
            else:
                added.append(source_from_folder(folder, taken))
        if added and remember:
            self._access.reload()
        scope = [*(source.name for source in added), *named.document_paths]
        return scope or None, tuple(added)

    def add(self, folder: Path | str, about: Mapping[str, object]) -> Source:
        """See :meth:`lancebrain.brain.Brain.add_source`."""
        from lancebrain.config import add_source_to_config, parse_source, remember_source

        settings = self._access.settings
        root = absolute(folder)
        if not root.is_dir():
            raise ConfigError(f"{root} is no folder.", hint="Name a folder that exists.")
        given = {key: value for key, value in about.items() if value not in (None, ())}
        taken = {source.name for source in settings.sources}
        source = parse_source(
            {"root": str(root), **given}, Path.cwd(), taken=taken, origin="the new source"
        )
        for other in settings.sources:
            if other.root == root:
                raise ConfigError(f"{root} is the source {other.name!r} already.")
            if other.name == source.name:
                raise ConfigError(
                    f"There is a source named {source.name!r} already: {other.root}.",
                    hint="Choose another with --name.",
                )
        if settings.config_file is not None:
            add_source_to_config(settings.config_file, source)
        else:
            remember_source(settings.index, source)
        self._access.reload()
        return source

    def remove(self, name: str) -> Source:
        """See :meth:`lancebrain.brain.Brain.remove_source`; the index is left as it is."""
        from lancebrain.config import forget_source, remove_source_from_config

        settings = self._access.settings
        known = {source.name: source for source in settings.sources}
        if name not in known:
            hint = f"There are: {', '.join(known)}." if known else "There are none."
            raise UsageError(f"There is no source named {name!r}.", hint=hint)
        config = settings.config_file
        configured = config is not None and remove_source_from_config(config, name)
        remembered = forget_source(settings.index, name)
        if not configured and not remembered:
            raise UsageError(
                f"The source {name!r} is set by {self._origin}.", hint="Take it out there."
            )
        self._access.reload()
        return known[name]
