"""`localscore bundle`: all that a machine without a network needs, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from localscore.cli.app import app, say
from localscore.cli.options import JudgeName
from localscore.judges.cards import card_named


@app.command()
def bundle(
    judge: JudgeName,
    out: Annotated[Path, typer.Option(metavar="FILE.tar", help="Where to write it.")],
    platform: Annotated[
        str,
        typer.Option(help="Of the other machine: manylinux_2_GLIBC_PROCESSOR; this one's if not given."),
    ] = "",
    python_version: Annotated[
        str, typer.Option(help="Of the other machine: 3.11, …; this one's if not given.")
    ] = "",
    torch: Annotated[Literal["cpu", "cuda"], typer.Option(help="Which build of torch.")] = "cpu",
    wheels: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Take the packages from this folder and from nowhere else."),
    ] = None,
) -> None:
    """Pack localscore and a judge for a machine without a network.

    Example: localscore bundle --judge starter --out localscore.tar

    On the other side: tar xf localscore.tar && sh localscore-*/install.sh
    """
    from localscore.bundle import Target, make

    usual = Target()
    target = Target(platform or usual.platform, python_version or usual.python, torch)
    made = make(card_named(judge), out, target=target, mirror=wheels, tell=say)
    typer.echo(f"{made.sha256}  {made.path}")
    say(f"{made.bytes:,} bytes, {made.packages} packages. Carry the sha256 by another way than the file.")
