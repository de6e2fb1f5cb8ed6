"""A folder from which nothing can run and nothing leads elsewhere, or the error that says what would.

It is looked at before any library opens it. What transformers reads of a judge is data: weights in safetensors,
JSON, and a chat template, which it runs in jinja's sandbox. Everything else that may run is refused, though
localscore would not read most of it: whoever approves a folder should not have to know that.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from localscore.errors import JudgeUnsafe

_PICKLES = frozenset(
    {".bin", ".ckpt", ".dill", ".h5", ".joblib", ".keras", ".npy", ".npz", ".pickle", ".pkl", ".pt", ".pt2", ".pth"}
)  # fmt: skip
_PROGRAMS = frozenset(
    {".dll", ".dylib", ".exe", ".ipynb", ".js", ".pth", ".py", ".pyc", ".pyd", ".sh", ".so"}
)
_PICKLED = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK\x03\x04")
"""How a pickle begins, and an archive, in which torch keeps its pickles."""
_PROGRAMMED = (b"\x7fELF", b"#!", b"MZ")
_REMOTE_CODE = ("auto_map", "custom_generate", "custom_pipelines")
_KERNELS = (
    "attn_implementation",
    "_attn_implementation",
    "experts_implementation",
    "_experts_implementation",
)
_LONGEST_TEMPLATE = 256 * 1024


def check_harmless(folder: Path) -> None:
    """Refuse a judge's folder with anything in it that could run, or that leads out of it.

    Raises:
        JudgeUnsafe: a pickle, a program, remote code, a template that reaches out of its sandbox, a link that leads
            elsewhere, or weights that are not where they are said to be.
    """
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            raise _unsafe(
                path,
                f"is a link that leads out of the folder, to {path.resolve()}",
                "Copy what it links to: cp -rL FOLDER COPY",
            )
        kind = path.lstat().st_mode
        if path.is_symlink() or stat.S_ISDIR(kind):
            continue
        if not stat.S_ISREG(kind):
            raise _unsafe(path, "is no ordinary file")
        _check_file(path)
    for path in sorted(folder.glob("*.json")):
        if path.name != "tokenizer.json":  # read by a parser that runs nothing, and large
            _check_settings(path)
    for path in sorted(folder.rglob("*.jinja")):
        check_template(_read(path), path)


def _check_file(path: Path) -> None:
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        start = file.read(16)
    if suffix in _PICKLES or start.startswith(_PICKLED):
        raise _unsafe(path, "may be a pickle, which runs code when it is read")
    if suffix in _PROGRAMS or start.startswith(_PROGRAMMED):
        raise _unsafe(path, "is a program; a judge brings no code of its own")
    if suffix == ".safetensors":
        _check_safetensors(path, start)


def _check_safetensors(path: Path, start: bytes) -> None:
    length = int.from_bytes(start[:8], "little")
    if len(start) == 16 and start[8:9] == b"{" and length <= path.stat().st_size - 8:
        return
    if not start.startswith(b"version https:"):
        return  # damaged, not dangerous: its reader says what is wrong with it
    raise _unsafe(path, "is a pointer of git-lfs and not the weights", "Run: git lfs pull")


def _check_settings(path: Path) -> None:
    try:
        settings = json.loads(_read(path))
    except ValueError:
        return  # its reader will say so
    except RecursionError:
        raise _unsafe(path, "is nested too deeply") from None
    if path.name.endswith(".index.json"):
        _check_index(settings, path)
    for key, value in _pairs(settings):
        if key in _REMOTE_CODE and value:
            raise _unsafe(
                path,
                f"asks for code of its own ({key}: {json.dumps(value)[:100]})",
                "Use a judge that this version of transformers knows by itself.",
            )
        if key in _KERNELS and isinstance(value, str) and "/" in value:
            raise _unsafe(path, f"asks for kernels from a hub ({key}: {value!r})")
        if key == "trust_remote_code" and value:
            raise _unsafe(path, "asks to be trusted with code of its own (trust_remote_code)")
        if key == "transformers_weights" and value is not None:
            _check_weights(value, path)
        if key == "chat_template" and value is not None:
            for template in _templates(value):
                check_template(template, path)


def _check_index(settings: Any, path: Path) -> None:
    names = settings.get("weight_map") if isinstance(settings, dict) else None
    for name in set(map(str, names.values())) if isinstance(names, dict) else ():
        _check_weights(name, path)


def _check_weights(name: Any, path: Path) -> None:
    plain = isinstance(name, str) and name.endswith((".safetensors", ".safetensors.index.json"))
    if not plain or Path(name).name != name:
        raise _unsafe(path, f"names weights that are no safetensors in the same folder: {name!r}")


def check_template(template: str, where: Path) -> None:
    """Refuse a chat template that does what no chat needs: reach into Python's objects, or other templates.

    It is parsed, not run.

    Raises:
        JudgeUnsafe: it does.

    >>> check_template("{% for m in messages %}{{ m['content'] | trim }}{% endfor %}", Path("a.jinja"))
    >>> check_template("{{ ''.__class__.__mro__ }}", Path("a.jinja"))
    Traceback (most recent call last):
    localscore.errors.JudgeUnsafe: a.jinja: its chat template reaches for '__mro__'.
    Get the judge from somewhere you trust, or remove the file if the judge is whole without it.
    """
    if len(template) > _LONGEST_TEMPLATE:
        raise JudgeUnsafe(f"{where}: its chat template is longer than {_LONGEST_TEMPLATE:,} characters.")
    try:  # with the extensions that transformers gives its own
        parsed = ImmutableSandboxedEnvironment(extensions=["jinja2.ext.loopcontrols", _Generation]).parse(
            template
        )
    except (TemplateError, RecursionError) as error:
        raise JudgeUnsafe(f"{where}: its chat template cannot be read: {error}.") from None
    for node in parsed.find_all(nodes.Node):
        what = _reaches_for(node)
        if what:
            raise JudgeUnsafe(f"{where}: its chat template reaches for {what}.", hint=_HINT)


def _reaches_for(node: nodes.Node) -> str:
    """Return what a part of a template does that no chat needs; nothing where it does not."""
    match node:
        case nodes.Include() | nodes.Import() | nodes.FromImport() | nodes.Extends():
            told = "another template"
        case nodes.Getattr(attr=name) if name.startswith("_"):
            told = repr(name)
        case nodes.Getitem(arg=nodes.Const(value=str(name))) if name.startswith("__"):
            told = repr(name)
        case nodes.Name(name=name) if name.startswith("__"):
            told = repr(name)
        case nodes.Filter(name="attr"):
            told = "the filter 'attr', which hides the name of what it takes"
        case nodes.Pow():
            told = "powers, with which a line can fill the memory"
        case nodes.Mul(left=left, right=right) if _large(left) or _large(right):
            told = "a large multiple, with which a line can fill the memory"
        case _:
            told = ""
    return told


def _large(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, int) and abs(node.value) > 10_000


class _Generation(Extension):
    """`{% generation %}`, with which templates mark what an assistant wrote; only read here."""

    tags = {"generation"}  # noqa: RUF012  (as jinja declares it)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _templates(value: Any) -> Iterator[str]:
    """Give every template in a `chat_template`: one text, or a list or mapping of named ones."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _templates(one)


def _pairs(settings: Any) -> Iterator[tuple[str, Any]]:
    """Give every key and its value, at any depth."""
    if isinstance(settings, dict):
        for key, value in settings.items():
            yield key, value
            yield from _pairs(value)
    elif isinstance(settings, list):
        for one in settings:
            yield from _pairs(one)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _unsafe(path: Path, what: str, hint: str = "") -> JudgeUnsafe:
    return JudgeUnsafe(
        f"{path} {what}. It is refused, and nothing of the folder was run.", hint=hint or _HINT
    )


_HINT = "Get the judge from somewhere you trust, or remove the file if the judge is whole without it."
