"""Libraries that are needed for some things only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from localscore.errors import OptionError


def extra(module: str, *, of: str, what: str) -> Any:
    """Import a module of an extra.

    Args:
        module: its name.
        of: the extra's name.
        what: what needs it.

    Raises:
        OptionError: it is not installed; says how to install it.

    >>> extra("json", of="parquet", what="JSON").dumps([])
    '[]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        hint = f"Install it with: pip install 'localscore[{of}]'"
        raise OptionError(f"{what} needs {module.split('.', maxsplit=1)[0]}: {error}.", hint=hint) from None
