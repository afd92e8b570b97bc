"""SQL over a version's tables, by DuckDB."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lancebrain.analysis.extras import require
from lancebrain.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

# Nothing is fetched for a query, and a name that is no table is not looked for in our variables.
_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


def run_sql(
    query: str,
    parameters: Sequence[object] | Mapping[str, object],
    own: Mapping[str, Callable[[], pa.Table]],
    given: Mapping[str, object],
) -> pa.Table:
    """The rows that a query gives.

    Args:
        parameters: for ``?`` or ``$name`` in the query.
        own: what gives the table of a name; asked only for those that the query names.
        given: more tables, by name.

    Raises:
        LancebrainError: DuckDB is not installed.
        UsageError: the query cannot be run.
    """
    duckdb = require("duckdb")
    with duckdb.connect(config=_CONFIG) as connection:
        for name, read in own.items():
            if names(query, name):
                connection.register(name, read())
        for name, table in given.items():
            connection.register(name, table)
        try:
            result = connection.sql(query, params=parameters or None)
            rows = None if result is None else result.to_arrow_table()
        except duckdb.Error as error:
            raise UsageError(
                f"The query cannot be run: {error}", hint=f"Tables: {', '.join((*own, *given))}."
            ) from error
    if rows is None:
        raise UsageError("The query gives no rows.", hint="Begin with SELECT or FROM.")
    return rows


def names(query: str, name: str) -> bool:
    """Whether a query has this word in it."""
    return re.search(rf"\b{re.escape(name)}\b", query, re.IGNORECASE) is not None
