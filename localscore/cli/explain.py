"""`localscore explain`: one sample with its prompts as sent, verdicts, probabilities and arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localscore.cli.app import app, say, show
from localscore.errors import RunError
from localscore.inquiries import prompts_hash, worded
from localscore.results import Features
from localscore.runs import Run, load_run
from localscore.suspicion import suspicions


@app.command()
def explain(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    sample: Annotated[str, typer.Argument(metavar="ID", help="The id of a sample.")],
) -> None:
    """Show one sample: prompts as sent, verdicts, arithmetic.

    Example: localscore explain runs/rag 17
    """
    from localscore.replay import exchanges

    run = load_run(folder)
    result = next((result for result in run.results if result.id == sample), None)
    if result is None:
        ids = ", ".join(result.id for result in run.results[:10])
        raise RunError(
            f"There is no sample {sample!r} in {str(folder)!r}.", hint=f"Its first samples are: {ids}."
        )
    show(f"Sample {result.id}, judged by {run.manifest.judge.get('name', 'an unnamed judge')}")
    for one in suspicions(result):
        say(f"The {one.where} looks as if it talked to the judge ({one.kind}): {one.passage}")
    for name, score in result.scores.items():
        show(f"\n{name}: {score.status}, score {score.score}, value {score.value}, band {score.band}")
        show(f"  expected {score.expected}, confidence {score.confidence}")
        show(f"  {score.reason}")
    try:
        if run.manifest.prompts != prompts_hash():
            raise RunError("The prompts of this version of localscore are not those that were sent.")
        metrics = run.metrics()
    except RunError as error:
        say(f"{error.message} So the verdicts are shown without their prompts.")
        for judgment in result.judgments:
            show(f"\n{judgment.question}: {judgment.verdict} {judgment.probabilities or ''}")
        return
    (before, after), prompts = _frame(run), run.manifest.judge.get("prompts", {})
    for number, exchange in enumerate(exchanges(result, metrics), 1):
        show(f"\n──── {number}. {exchange.inquiry.question} ────")
        show(f"{before}{worded(exchange.inquiry, prompts).prompt}{after}")
        show("──── verdict ────")
        if exchange.judgment is None:
            refused = any(one.key == exchange.inquiry.key for one in result.refused)
            show(
                "none: too long for the judge, so asked in parts" if refused else "none; see the cause above"
            )
            continue
        show(str(exchange.judgment.verdict))
        if exchange.judgment.probabilities is not None:
            told = (f"{label} {p:.4f}" for label, p in exchange.judgment.probabilities.items())
            show("probabilities: " + ", ".join(told))
        if exchange.judgment.features is not None:
            show(_made_of(exchange.judgment.features))


def _made_of(features: Features) -> str:
    """Say what a calibrated verdict was made of."""
    told = ", ".join(f"{label} {p:.4f}" for label, p in features.probabilities.items())
    parts = [f"calibrated from: {told}", f"word overlap {features.overlap:.2f}"]
    if features.bits is not None and features.bits_without is not None:
        parts.append(
            f"information {features.bits:.1f} bits, without contexts {features.bits_without:.1f} "
            f"({features.explained:.0%} explained)"
        )
    return "; ".join(parts)


def _frame(run: Run) -> tuple[str, str]:
    chat = run.manifest.judge.get("chat", {})
    return chat.get("before", ""), chat.get("after", "")
