#!/usr/bin/env python
"""Writes docs/cli.md and man/localscore.1 from the commands; `--check` only says whether they are as they should be."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from jinja2 import Environment
from typer.main import get_command

from localscore.cli.app import COMMANDS, EXAMPLES, app

ROOT = Path(__file__).parent.parent

PAGE = """\
# Commands

What each command says of itself with `--help-all`; made by `scripts/write_reference.py`. Options with a ° are
[settings](shell.md): the environment (`LOCALSCORE_…`) and `localscore.toml` set them too.
{% for command in commands %}
## localscore {{ command.name }}
{% for paragraph in command.paragraphs %}
{% if paragraph.startswith("Example: ") %}```sh
{{ paragraph.removeprefix("Example: ") }}
```{% else %}{{ paragraph }}{% endif %}
{% endfor %}
    localscore {{ command.usage }}
{% if command.options %}
| option | |
|---|---|
{% for option in command.options -%}
| `{{ option.names | cell }}`{{ " °" if option.setting }} | {{ option.help | cell }} |
{% endfor -%}
{% endif -%}
{% endfor %}"""

MANUAL = """\
.TH LOCALSCORE 1 "" "localscore" "User Commands"
.SH NAME
localscore \\- score retrieval\\-augmented answers with open\\-weight judges, offline
.SH SYNOPSIS
.B localscore
.I COMMAND
[OPTIONS]
.SH DESCRIPTION
Options that are settings may also be set by an environment variable (LOCALSCORE_JUDGE and so on) and in
localscore.toml; a flag wins over the environment, that over the file, that over the default.
.SH COMMANDS
{% for command in commands -%}
.SS "localscore {{ command.usage | roff }}"
{% for paragraph in command.paragraphs -%}
{{ paragraph | roff }}
.PP
{% endfor -%}
{% for option in command.options -%}
.TP
.B {{ option.names | roff }}
{{ option.help | roff }}{{ " (a setting)" if option.setting }}
{% endfor -%}
{% endfor -%}
.SH EXAMPLES
.nf
{{ examples | roff }}
.fi
.SH EXIT STATUS
0 done; 1 a threshold is not met (gate) or something is wrong (doctor); 2 the command or the data was wrong;
3 finished, but some scores could not be had; 130 stopped.
"""


def roff(text: str) -> str:
    """Return a text in which nothing is meant for the typesetter.

    >>> roff(".a-b")
    '\\\\&.a\\\\-b'
    """
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)


def told(command: Any, name: str) -> list[dict[str, Any]]:
    """Return what there is to say of a command, or of those of a group."""
    if hasattr(command, "commands"):
        return [one for inner in command.commands.values() for one in told(inner, f"{name} {inner.name}")]
    context = command.make_context(f"localscore {name}", [], resilient_parsing=True)
    options = []
    for parameter in command.params:
        if parameter.name == "help_all":
            continue
        parameter.hidden = False
        names, text = parameter.get_help_record(context)
        setting = isinstance(getattr(parameter, "envvar", None), str)
        options.append({"names": names, "help": text, "setting": setting})
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    usage = f"{name} {' '.join(command.collect_usage_pieces(context))}"
    return [{"name": name, "usage": usage, "paragraphs": paragraphs, "options": options}]


def written() -> dict[Path, str]:
    """Return the files as they should be."""
    for module, _ in COMMANDS.values():
        import_module(f"localscore.cli.{module}")
    group: Any = get_command(app)
    commands = [one for name in COMMANDS for one in told(group.commands[name], name)]
    environment = Environment(autoescape=False, keep_trailing_newline=True)
    environment.filters |= {"roff": roff, "cell": lambda text: text.replace("|", "\\|")}
    examples = "\n".join(line.strip() for line in EXAMPLES.splitlines()[2:])
    return {
        ROOT / "docs" / "cli.md": environment.from_string(PAGE).render(commands=commands),
        ROOT / "man" / "localscore.1": environment.from_string(MANUAL).render(
            commands=commands, examples=examples
        ),
    }


def main() -> None:
    """Write the files, or check them."""
    stale = [path for path, text in written().items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv:
        sys.exit(f"Run scripts/write_reference.py: {', '.join(map(str, stale))}" if stale else 0)
    for path, text in written().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
