"""What a judge needs of memory and disk, and what there is: said before anything is loaded.

    need = weights + keys and values + one pass + libraries

A card's measured figure goes before the estimate. Sizes are bytes; a GB is 10^9 of them.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from localscore.errors import TooLarge
from localscore.judges.cards import Card, cards

LLAMACPP = "llamacpp"
"""Stands for the numbers of a GGUF file, where others are a dtype."""
ITEMSIZE = {"float32": 4, "bfloat16": 2, "float16": 2}

_LIBRARIES = 500_000_000
"""Python with torch and transformers, before any weight is read."""
_LLAMACPP = 700_000_000
"""What llama.cpp needs beside the numbers of a file: libraries, keys and values, a pass."""
_TOKENS = 2048
"""Tokens in a pass where nobody has said: more than most prompts with their contexts."""
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


@dataclass(frozen=True)
class Shape:
    """What the size of a judge depends on."""

    parameters: int
    layers: int = 0
    cached_width: int = 0
    """Numbers that a layer keeps of a token: keys and values of all their heads."""
    pass_width: int = 0
    """Numbers that a layer computes for a token and needs at the same time."""

    @classmethod
    def of(cls, folder: Path) -> Shape:
        """Read the shape from a folder's config and the headers of its safetensors; no weight is read."""
        parameters = sum(_parameters(path) for path in folder.glob("*.safetensors"))
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            config = config.get("text_config", config)
            hidden, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
            kept = int(config.get("num_key_value_heads") or heads)
            return cls(
                parameters,
                layers=int(config["num_hidden_layers"]),
                cached_width=2 * kept * int(config.get("head_dim") or hidden // heads),
                pass_width=12 * hidden + 3 * int(config["intermediate_size"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
            return cls(
                parameters
            )  # a kind of model with other words for its sizes: the weights are most of it

    def need(self, dtype: str, tokens: int | None = None) -> int:
        """Return the bytes needed to judge in a dtype, with so many tokens in a pass.

        >>> Shape(1_000_000_000, layers=10, cached_width=1000, pass_width=10_000).need("bfloat16", 1000)
        2540000000
        """
        tokens = tokens or _TOKENS
        numbers = self.parameters + tokens * (self.layers * self.cached_width + self.pass_width)
        return numbers * ITEMSIZE[dtype] + _LIBRARIES


def needed(shape: Shape, card: Card | None, dtype: str, tokens: int | None = None) -> int:
    """Return the bytes that a judge needs: what its card says of the dtype, or else an estimate."""
    if card is not None and dtype in card.memory:
        return int(card.memory[dtype] * 1e9)
    return shape.need(dtype, tokens)


def needed_by_llamacpp(gguf: Path) -> int:
    """Return the bytes that llama.cpp needs to judge with a file."""
    return gguf.stat().st_size + _LLAMACPP


def free_memory() -> int:
    """Return the bytes that a process may still take here: of the machine with its swap, or of its container."""
    free = psutil.virtual_memory().available + psutil.swap_memory().free
    for limit, used in _CGROUPS:
        try:
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such container, or one without a limit ("max")
            continue
    return max(0, int(free))


def check_memory(name: str, needs: Mapping[str, int], dtype: str, free: int) -> None:
    """Refuse a judge that the free memory cannot hold.

    Args:
        name: what it is called.
        needs: the bytes that it needs, by dtype, or for `LLAMACPP`.
        dtype: the one chosen.
        free: the bytes there are, of the device that it would be on.

    Raises:
        TooLarge: it does not fit; says which judge and dtype does.
    """
    if needs[dtype] <= free:
        return
    smaller = [other for other, need in needs.items() if need <= free]
    if smaller:
        options = ["--backend llamacpp" if other == LLAMACPP else f"--dtype {other}" for other in smaller]
        hint = f"{name} fits with {' or '.join(options)}."
    else:
        fitting = largest_fitting(free, dtype)
        hint = "No judge with a card fits; free some memory, or use a larger machine."
        if fitting is not None:
            card, its = fitting
            hint = f"The largest with a card that fits: --judge {card.name} --dtype {its} ({card.memory[its]:g} GB)."
    raise TooLarge(
        f"Judge {name} needs about {told(needs[dtype])} of memory in {dtype}; {told(free)} are free.",
        hint=hint,
    )


def largest_fitting(free: int, dtype: str) -> tuple[Card, str] | None:
    """Return the largest judge with a card that fits into so many bytes, in that dtype if it may be."""
    for card in reversed(cards()):
        for its in sorted(card.memory, key=lambda its: its != dtype):
            if card.memory[its] * 1e9 <= free:
                return card, its
    return None


def free_disk(folder: Path) -> int:
    """Return the bytes free where a folder is, or would be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def check_disk(folder: Path, need: int, what: str) -> None:
    """Refuse to begin what the disk cannot hold.

    Raises:
        TooLarge: there is less than `need` bytes where the folder is.
    """
    free = free_disk(folder)
    if need > free:
        raise TooLarge(
            f"{what} needs {told(need)} of disk; {told(free)} are free at {folder}.",
            hint="Free some, or say another place with LOCALSCORE_HOME.",
        )


def told(size: int) -> str:
    """Return a size in GB.

    >>> told(8_049_000_000)
    '8.0 GB'
    """
    return f"{size / 1e9:.1f} GB"


def _parameters(path: Path) -> int:
    """Return how many numbers a safetensors file holds, from its header; 0 where that cannot be read."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > path.stat().st_size:
                return 0
            header: dict[str, Any] = json.loads(file.read(length))
        return sum(math.prod(one["shape"]) for name, one in header.items() if name != "__metadata__")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0
