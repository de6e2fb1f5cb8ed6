"""Calibrates a judge to verdicts of people, and measures what that changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from localscore.agreement.answers import ANSWERS, load_answers
from localscore.agreement.report import AGREEMENT, JUDGE, OVERLAP, Agreement, Row, load_agreement
from localscore.agreement.running import Listener, agree, measured, require_statistics
from localscore.calibration import CALIBRATED, Calibrations
from localscore.files import write_whole
from localscore.judges import Judge
from localscore.judges.calibrated import CalibratedJudge
from localscore.judges.cards import Measured, tables
from localscore.labelled import Kind, Labelled, Other

CALIBRATION = "calibration.toml"
AFTER = "calibrated.json"


@dataclass(frozen=True)
class Calibrated:
    """Calibrations, and how well the judge agrees with people without and with them."""

    calibrations: Calibrations
    before: Agreement
    after: Agreement
    """Each record by calibrations that were fitted without its cluster."""


def calibrate(
    items: Sequence[Labelled],
    judge: Judge,
    out: Path,
    *,
    others: Iterable[Other] = (),
    corpus: Sequence[Labelled] | None = None,
    overwrite: bool = False,
    source: str = "",
    listener: Listener | None = None,
) -> Calibrated:
    """Fit calibrations of the closed questions that labelled records are about.

    Args:
        items: the records.
        judge: one without calibration.
        out: a folder for `answers.jsonl`, `agreement.json` (before), `calibrated.json` (after) and
            `calibration.toml`; answers that are there already are kept.
        others: what other judges said of the same records.
        corpus: all records, from which word overlap learns how rare words are; these ones where not given.
        overwrite: ask everything again where `out` holds answers of another judge or to other prompts.
        source: where the records came from, for the report.
        listener: told after every record how many are answered.

    Raises:
        CalibrationError: there are too few records to fit to.
        JudgeBroke: the judge raised something; the answers are kept.
        OptionError: the extra `agree` is not installed.
        RunError: `out` cannot be written, or holds answers of another judge or to other prompts.
    """
    require_statistics()
    from localscore.agreement import fitting

    others, items = tuple(others), [item for item in items if item.kind in CALIBRATED]
    before = agree(
        items,
        CalibratedJudge(judge, {}, observed=CALIBRATED),
        others=others,
        corpus=corpus,
        out=out,
        overwrite=overwrite,
        source=source,
        listener=listener,
    )
    wanted = {(item.kind, item.id) for item in items}
    answers = [one for one in load_answers(out / ANSWERS) if (one.kind, one.id) in wanted]
    calibrations = fitting.fitted(answers)
    kinds = measured(fitting.out_of_fold(answers), others)
    after = before.model_copy(update={"kinds": kinds, "calibration": dict(calibrations)})
    write_whole(out / AFTER, after.model_dump_json(indent=2).encode() + b"\n")
    write_whole(out / CALIBRATION, tables("calibration", calibrations).encode())
    return Calibrated(calibrations, before, after)


def on_card(agreement: Agreement) -> dict[str, Measured]:
    """Return what a judge's card says of how well it agrees with people, by kind of question."""
    details = agreement.judge
    quantize = details.get("quantize", "none")
    arithmetic = details.get("backend") or (details.get("dtype", "") if quantize == "none" else quantize)
    return {
        kind: Measured(
            date=(agreement.finished or agreement.started)[:10],
            arithmetic=arithmetic,
            records=told.all.n,
            clusters=told.all.clusters,
            samples_per_minute=told.samples_per_minute,
            ece=told.all.ece,
            measures=_told(told.all.row(JUDGE), tuple(told.all.row(JUDGE).measures)),
            overlap=_told(told.all.row(OVERLAP), HEADLINES[kind]),
        )
        for kind, told in agreement.kinds.items()
    }


HEADLINES: dict[Kind, tuple[str, ...]] = {
    "relevance": ("quadratic_kappa", "balanced_accuracy", "auroc"),
    "usage": ("balanced_accuracy", "auroc"),
    "attribution": ("balanced_accuracy", "auroc"),
    "sufficiency": ("balanced_accuracy", "auroc"),
    "claims": ("f1",),
}
"""What is told of word overlap beside a judge."""


def _told(row: Row, names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    found = {name: row.measures[name] for name in names if name in row.measures}
    return {
        name: (round(one.value, 3), round(one.low, 3), round(one.high, 3))
        for name, one in found.items()
        if one.value is not None and one.low is not None and one.high is not None
    }


def load_calibrated(folder: Path) -> tuple[Agreement, Agreement]:
    """Read what `calibrate` measured before and after.

    Raises:
        RunError: the files are not there, or are none of this version of localscore.
    """
    return load_agreement(folder), load_agreement(folder, AFTER)


__all__ = ["AFTER", "AGREEMENT", "CALIBRATION", "Calibrated", "calibrate", "load_calibrated"]
