"""How commands are declared: one decorator gives each the shared options and its examples.

``--index``, ``--config`` and ``--json`` may stand before or after the command's name; the later
one wins.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from lancebrain.cli.filters import OPTIONS as FILTERS
from lancebrain.cli.filters import take_filter
from lancebrain.cli.front import Front

_PANEL = "For every command"

Index = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="DIR",
        show_default=False,
        help="Folder of the index, or s3://…, gs://…, az://…. [dim]Else "
        "LANCEBRAIN_INDEX, the configuration, or the platform's data folder.[/]",
        rich_help_panel=_PANEL,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        show_default=False,
        help="Configuration to use instead of the lancebrain.toml found upwards from here.",
        rich_help_panel=_PANEL,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_PANEL),
]

_SHARED = {"index": (Index, None), "config": (Config, None), "json": (Json, False)}

Function = Callable[..., int | None]


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
"""The program; the modules of commands add to it as they are imported."""


def command(
    name: str,
    *,
    panel: str | None = None,
    examples: tuple[str, ...] = (),
    filtered: bool = False,
    group: typer.Typer = app,
) -> Callable[[Function], Function]:
    """Register a function as a command.

    The function takes a :class:`Front` first; its other parameters are the command's own
    options. It returns the exit code, None for 0.

    Args:
        name: what is typed.
        panel: heading that it stands under in the program's help.
        examples: command lines to show under ``--help``.
        filtered: also take the options that narrow down, and hand them over as ``wanted``,
            a :class:`lancebrain.types.Filter`.
        group: what the command belongs to.
    """

    def register(function: Function) -> Function:
        def run(ctx: typer.Context, **options: Any) -> None:
            front = _front(ctx, options)
            if filtered:
                options["wanted"] = take_filter(options)
            raise typer.Exit(function(front, **options) or 0)

        _, *own = inspect.signature(function, eval_str=True).parameters.values()
        if filtered:
            own = [parameter for parameter in own if parameter.name != "wanted"]
            own += [_parameter(name, kind, None) for name, kind in FILTERS.items()]
        _declare(run, own, function.__doc__)
        group.command(name, rich_help_panel=panel, epilog=_epilog(examples))(run)
        return function

    return register


def describe(group: typer.Typer, help_text: str, **extra: Any) -> None:
    """Give a group its help, and let it take the shared options before its command.

    Args:
        group: the program, or a group of its commands.
        help_text: shown by ``--help``.
        extra: the group's own options, by name: a parameter's annotation and default.
    """

    def run(ctx: typer.Context, **options: Any) -> None:
        ctx.obj = _front(ctx, options)

    _declare(run, [_parameter(name, *about) for name, about in extra.items()], help_text)
    group.callback()(run)


def _front(ctx: typer.Context, options: dict[str, Any]) -> Front:
    here = Front(options.pop("index"), options.pop("config"), options.pop("json"))
    return ctx.obj.merged(here) if ctx.obj else here


def _declare(run: Callable[..., None], own: list[inspect.Parameter], doc: str | None) -> None:
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
        *(_parameter(name, *about) for name, about in _SHARED.items()),
    ]
    run.__doc__ = doc
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def _parameter(name: str, kind: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _epilog(examples: tuple[str, ...]) -> str | None:
    if not examples:
        return None
    return "\n".join(("[dim]Examples[/]", *(f"  {escape(line)}" for line in examples)))
