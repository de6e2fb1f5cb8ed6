"""Who judged, how, and how far that is known to be right: from the manifest and the judge's card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from localscore.judges.cards import Card, Measured, find_card
from localscore.manifests import Manifest

Facts = tuple[tuple[str, str], ...]
"""Names and what they stand for, in order."""


@dataclass(frozen=True)
class Provenance:
    """What a report tells of the judge and of the run."""

    judge: str
    card: Facts
    """What the judge's card says; nothing for a judge without one."""
    agreement: Facts
    """What was measured of its agreement with people; nothing where nothing was."""
    run: Facts
    manifest: str
    """The whole manifest, as JSON."""


def provenance(manifest: Manifest) -> Provenance:
    """Return what is known of a run's judge and how the run was made."""
    name = str(manifest.judge.get("card") or manifest.judge.get("name", ""))
    card = find_card(name)
    return Provenance(
        judge=str(manifest.judge.get("name", "an unnamed judge")),
        card=tuple(_card(card, manifest)) if card is not None else (),
        agreement=tuple(_measured(card.agreement)) if card is not None else (),
        run=tuple(_run(manifest)),
        manifest=manifest.model_dump_json(indent=2),
    )


def _measured(agreement: Mapping[str, Measured]) -> Iterator[tuple[str, str]]:
    for question, told in agreement.items():
        name = next(iter(told.measures), None)
        if "balanced_accuracy" in told.measures:
            name = "balanced_accuracy"
        if name is None:
            continue
        parts = [f"{name.replace('_', ' ')} {_interval(told.measures[name])}"]
        if name in told.overlap:
            parts.append(f"word overlap {_interval(told.overlap[name])}")
        parts.append(f"{told.records:,} records, {told.arithmetic}, {told.date}")
        yield question, " · ".join(parts)


def _interval(told: tuple[float, float, float]) -> str:
    return f"{told[0]:.2f} [{told[1]:.2f}, {told[2]:.2f}]"


def _card(card: Card, manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield "model", card.title
    yield "parameters", f"{card.parameters / 1e9:.2f} billion"
    yield "window", f"{card.window:,} tokens"
    yield "licence", card.licence
    yield "tried", card.tried or "could not be tried"
    if card.note:
        yield "note", card.note
    known = {file.path: file.sha256 for file in card.files if file.sha256 is not None}
    used = manifest.judge.get("files")
    if isinstance(used, Mapping) and used and known:
        same = all(known.get(path, sha) == sha for path, sha in used.items())
        yield "files", "those of the card, by sha256" if same else "not those of the card: a sha256 differs"
    for arithmetic, differs in card.differs.items():
        changed = f"{differs.changed} of {differs.verdicts} verdicts differ from float32"
        yield arithmetic, f"{changed}, a probability by {differs.largest:g} at most"
    if (flips := card.flips.get("changed")) is not None:
        harmless = f"harmless texts of the same length {flips.control:.0%}"
        yield "talk to the judge", f"changed {flips.attack:.0%} of {flips.attacks} verdicts; {harmless}"


def _run(manifest: Manifest) -> Iterator[tuple[str, str]]:
    judge, dataset = manifest.judge, manifest.dataset
    yield "data", f"{dataset.get('source', '')} · {dataset.get('samples', 0):,} samples"
    left_out = dataset.get("left_out") or ()
    if left_out:
        yield "rows left out", f"{len(left_out):,}"
    if dataset.get("sha256"):
        yield "sha256 of the data", str(dataset["sha256"])
    arithmetic = " · ".join(
        str(judge[key]) for key in ("backend", "device", "dtype", "quantize") if judge.get(key)
    )
    if arithmetic:
        yield "computed with", arithmetic
    yield "fingerprint of the judge", str(judge.get("fingerprint", ""))
    yield "prompts", manifest.prompts
    for metric in manifest.metrics:
        options = {key: value for key, value in metric.items() if key != "name"}
        yield str(metric.get("name", "")), json.dumps(options)
    yield "same bytes when repeated", "yes" if judge.get("exact", True) else "not promised on this device"
    if manifest.near_ties is not None:
        yield "verdicts within the arithmetic's noise", f"{manifest.near_ties:,}"
    yield "started", manifest.started
    yield "finished", manifest.finished or "not finished"
    yield "machine", manifest.machine
    yield "software", ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
