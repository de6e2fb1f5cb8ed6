"""`localscore doctor`: whether this machine can judge, and what to do where it cannot."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from localscore import api
from localscore.cli.app import UNWELL, app, show
from localscore.cli.options import Backend, Device, Dtype, MaybeJudge, Quantize

if TYPE_CHECKING:
    from localscore.judges.machine import Machine

_MARKS = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


@app.command()
def doctor(
    judge: MaybeJudge = None,
    backend: Backend = "auto",
    device: Device = "auto",
    dtype: Dtype = "auto",
    quantize: Quantize = "none",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Look whether this machine can judge, and say what to do where it cannot.

    Example: localscore doctor --judge starter

    Exit status: 0 all is well; 1 something is wrong.
    """
    from localscore.doctor import Check, examine

    found: list[Check] = []
    load = partial(
        api.load_judge, backend=backend, device=device, dtype=dtype, quantize=quantize, verify="full"
    )
    for check in examine(judge, load=load, machine=_machine):
        found.append(check)
        if not as_json:
            show(f"{_MARKS[check.state]} {check.name}: {check.found}")
            if check.todo:
                show(f"      {check.todo}")
    well = all(check.state != "wrong" for check in found)
    if as_json:
        typer.echo(json.dumps({"ok": well, "checks": [asdict(check) for check in found]}))
    if not well:
        raise typer.Exit(UNWELL)


def _machine() -> Machine:
    from localscore.judges.machine import this_machine  # imports torch

    return this_machine()
