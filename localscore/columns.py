"""The columns of a row → the fields of a sample, in the words of the tools that people use.

Rows come one at a time; what an earlier row was read by is never changed by a later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from localscore.errors import OptionError
from localscore.tools import ALIASES, FIELDS, TOOLS, WEAK

_SPAN = "context.span_id"
"""The column by which an export of Phoenix is known: its `reference` was retrieved, and is not a ground truth."""


def recognise(rows: Iterable[Mapping[str, Any]], mapping: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return for each field of a sample the column that holds it in these rows.

    Args:
        rows: the rows whose columns are looked at.
        mapping: `{their column: our field}`, which goes before what is recognised.

    Raises:
        OptionError: the mapping names an unknown field, or a column that no row has; or two columns could be
            meant for one field and neither is ours.

    >>> recognise([{"user_input": "q", "retrieved_contexts": [], "reference": "r"}])
    {'query': 'user_input', 'contexts': 'retrieved_contexts', 'ground_truth': 'reference'}
    >>> recognise([{"frage": "q", "contexts": []}], {"frage": "query"})
    {'query': 'frage', 'contexts': 'contexts'}
    """
    columns = Columns(mapping)
    for row in rows:
        columns.see(row)
    columns.check_mapping()
    return columns.names


class Columns:
    """What has been recognised so far."""

    def __init__(self, mapping: Mapping[str, str] | None = None, *, besides: Iterable[str] = ()) -> None:
        """Start with what is mapped; fields `besides` are looked for in no column."""
        self._mapped = _inverse(mapping or {})
        self._present: dict[str, list[str]] = {
            field: [] for field in FIELDS if field not in self._mapped and field not in set(besides)
        }
        self._missed = dict(self._mapped)
        self._seen: set[str] = set()
        self.names: dict[str, str] = {}
        """For each field the column that holds it."""

    def see(self, row: Mapping[str, Any]) -> None:
        """Look at one more row.

        Raises:
            OptionError: two columns could be meant for one field.
        """
        self._seen.update(map(str, row))
        found = {field: name for field, name in self._missed.items() if look_up(row, name) is not ABSENT}
        for field in found:
            del self._missed[field]
        for field, present in self._present.items():
            new = [name for name in ALIASES[field] if name not in present and _holds(row, name, field)]
            if new:
                found[field] = self._chosen(field, [*present, *new])
                present.extend(new)
        if found:
            names = self.names | found
            self.names = {field: names[field] for field in FIELDS if field in names}

    def check_mapping(self) -> None:
        """Raise OptionError where there were rows, and a mapped column was in none."""
        for field, theirs in self._missed.items() if self._seen else ():
            raise OptionError(
                f"--map {theirs}={field}: no row has a column {theirs!r}.",
                hint=f"Columns are {', '.join(sorted(self._seen))}.",
            )

    def _chosen(self, field: str, present: list[str]) -> str:
        strong = [name for name in present if name not in WEAK] or present
        chosen = field if field in strong else strong[0]
        known = self.names.get(field, chosen)
        if known != chosen or (len(strong) > 1 and chosen != field):
            first, second = (
                (known, chosen) if known != chosen else sorted(strong, key=ALIASES[field].index)[:2]
            )
            raise OptionError(
                f"Two columns could be the {field}: {first!r} and {second!r}.",
                hint=f"Say which, for example --map {first}={field}.",
            )
        return chosen


def _inverse(mapping: Mapping[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for theirs, ours in mapping.items():
        if ours in names:
            raise OptionError(
                f"--map: {names[ours]!r} and {theirs!r} are both mapped to {ours!r}; expected one."
            )
        if ours not in FIELDS:
            raise OptionError(
                f"--map {theirs}={ours}: there is no field {ours!r}.",
                hint=f"Fields are {', '.join(FIELDS)}; write --map their_column=field.",
            )
        names[ours] = theirs
    return names


def told(names: Mapping[str, str]) -> str:
    """Say in one line what was recognised, and whose words they are.

    >>> told({"query": "user_input", "contexts": "retrieved_contexts", "answer": "response"})
    'Columns as of ragas: query = user_input, contexts = retrieved_contexts, answer = response.'
    >>> told({"query": "query", "contexts": "contexts"})
    'Columns: query, contexts.'
    """
    theirs = {field: name for field, name in names.items() if field != name}
    known = {
        tool: sum(name in its.get(field, ()) for field, name in theirs.items()) for tool, its in TOOLS.items()
    }
    tool = max(known, key=lambda tool: known[tool])
    whose = f" as of {tool}" if known[tool] and tool != "others" else ""
    columns = ", ".join(field if field == name else f"{field} = {name}" for field, name in names.items())
    return f"Columns{whose}: {columns}."


def missing(field: str, row: Mapping[str, Any]) -> str:
    """Say that a row has no column for a field, and which it has."""
    known = ", ".join(name for name in ALIASES[field] if "." not in name)
    here = list(_leaves(row))
    inner = next((name for name in here if "." in name and name not in row), None)
    example = f"; to take one of them, add for example --map {inner}={field}" if inner else ""
    return (
        f"missing {field!r} (recognised columns: {known}; columns here: {', '.join(here) or 'none'}{example})"
    )


def _leaves(row: Mapping[str, Any]) -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in value)
        else:
            yield str(name)


class _Absent:
    pass


ABSENT = _Absent()
"""What `look_up` returns where a row has no such column."""


def look_up(row: Mapping[str, Any], name: str) -> Any:
    """Return what a column holds; its name may lead into an object.

    >>> look_up({"a": {"b": 1}}, "a.b"), look_up({"a.b": 2, "a": {"b": 1}}, "a.b")
    (1, 2)
    """
    if name in row:
        return row[name]
    first, *path = _keys(name)
    value: Any = row.get(first, ABSENT) if path else ABSENT
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return ABSENT
        value = value[key]
    return value


@cache
def _keys(name: str) -> tuple[str, ...]:
    return tuple(name.split("."))


def _holds(row: Mapping[str, Any], name: str, field: str) -> bool:
    """Return whether a row has a column that can be meant for a field.

    Texts are not objects: `input` is the query of DeepEval, and holds what is asked in exports of others.
    """
    value = look_up(row, name)
    if value is ABSENT or (field != "contexts" and isinstance(value, Mapping)):
        return False
    return name != "reference" or (field == "contexts") == (_SPAN in row)


def without(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return a row without some of its columns; an object that is left empty goes too.

    >>> without({"a": {"b": 1, "c": 2}, "d": {"e": 3}, "f": 4}, ["a.b", "d.e"])
    {'a': {'c': 2}, 'f': 4}
    """
    rest = dict(row)
    for name in names:
        if name in row:
            rest.pop(name, None)
        elif "." in name:
            outer, inner = name.split(".", 1)
            if isinstance(rest.get(outer), Mapping):
                rest[outer] = without(rest[outer], [inner])
                if not rest[outer]:
                    del rest[outer]
    return rest
