"""What a run was, as `run.json` tells it: judge, prompts, metrics, data, machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from localscore.datasets import Dataset
from localscore.errors import OptionError, RunError
from localscore.inquiries import prompts_hash
from localscore.judges import JudgeIdentity
from localscore.metrics import METRICS, Metric
from localscore.metrics.written import named
from localscore.scoring import Penalties

PACKAGES = (
    "localscore",
    "torch",
    "transformers",
    "outlines",
    "llguidance",
    "pydantic",
    "sentencex",
    "tokenizers",
)


class Manifest(BaseModel):
    """What a run was: who judged what, how, and when."""

    model_config = ConfigDict(extra="forbid")

    identity: str
    """A hash of judge, prompts and metrics: runs of one identity can be carried on and compared."""
    judge: dict[str, Any]
    """Name, fingerprint, and what that was made of: files with their sha256, device, dtype, chat template.

    `exact`: the same files and options give the same bytes, in any order and when carried on. `noise`: the distance
    of two probabilities below which this arithmetic cannot tell two values apart.
    """
    prompts: str
    """The sha256 of the wording of all questions."""
    metrics: list[dict[str, Any]]
    dataset: dict[str, Any]
    versions: dict[str, str]
    machine: str
    started: str
    finished: str | None = None
    seconds: float | None = None
    tokens: dict[str, int] | None = None
    """Tokens that the judge read and wrote in the last sitting, and how many samples they were for."""
    cached: int | None = None
    """Verdicts of the last sitting that came from the cache, for which no token was read."""
    near_ties: int | None = None
    """Closed verdicts whose two most probable values are nearer to each other than the arithmetic's noise."""
    rescored_from: dict[str, str] | None = None
    """Folder and identity of the run whose verdicts these scores were made of, where it was another."""

    @field_validator("metrics")
    @classmethod
    def _named(cls, metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for told in metrics:
            if not isinstance(told.get("name"), str):
                raise ValueError(f"a metric has no name: {told}")
        return metrics

    @classmethod
    def of(cls, identity: JudgeIdentity, metrics: Sequence[Metric], dataset: Dataset) -> Manifest:
        """Return the manifest of a run that starts now."""
        told = described(metrics)
        return cls(
            identity=_identity(identity.fingerprint, prompts_hash(), told),
            judge={
                "name": identity.name,
                "fingerprint": identity.fingerprint,
                "exact": identity.exact,
                "noise": identity.noise,
                **identity.details,
            },
            prompts=prompts_hash(),
            metrics=told,
            dataset={
                "source": dataset.source,
                "sha256": dataset.sha256,
                "samples": len(dataset.samples),
                "columns": dict(dataset.columns),
                "left_out": list(dataset.complaints),
                "options": dict(dataset.options),
            },
            versions={name: _version(name) for name in PACKAGES} | {"python": platform.python_version()},
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
            started=_now(),
        )

    def rescored(self, metrics: Sequence[Metric], *, folder: Path | None) -> Manifest:
        """Return the manifest of a run that scores the same verdicts by other metrics, starting now."""
        told = described(metrics)
        update = {
            "identity": _identity(self.judge.get("fingerprint"), self.prompts, told),
            "metrics": told,
            "versions": self.versions | {"localscore": _version("localscore")},
            "started": _now(),
            "finished": None,
            "seconds": None,
            "tokens": {"read": 0, "written": 0, "samples": 0},
            "rescored_from": {"folder": str(folder or ""), "identity": self.identity},
        }
        return self.model_copy(update=update)

    def finished_now(self, seconds: float) -> Manifest:
        """Return the manifest of the run now that it is finished."""
        return self.model_copy(update={"finished": _now(), "seconds": round(seconds, 1)})

    def finished_with(
        self, tokens: dict[str, int], *, cached: int, near_ties: int, seconds: float
    ) -> Manifest:
        """Return the manifest of the run now that it is finished."""
        return self.finished_now(seconds).model_copy(
            update={"tokens": tokens, "cached": cached, "near_ties": near_ties}
        )


def described(metrics: Iterable[Metric]) -> list[dict[str, Any]]:
    """Return metrics as a manifest tells of them; `metric_from` reads them back."""
    return [
        {"name": metric.name, **metric.parameters}
        | ({} if METRICS.get(metric.name) is type(metric) else {"class": named(metric)})
        for metric in metrics
    ]


def _identity(fingerprint: str | None, prompts: str, metrics: list[dict[str, Any]]) -> str:
    same = json.dumps([fingerprint, prompts, metrics], sort_keys=True)
    return hashlib.sha256(same.encode()).hexdigest()


def metric_from(told: dict[str, Any]) -> Metric:
    """Return the metric that a manifest describes.

    Raises:
        RunError: it is none of `METRICS`, or was scored with parameters that are not known here.
    """
    fields = {key: value for key, value in told.items() if key != "name"}
    if "class" in told:  # what a file names is never imported: a run may come from anybody
        hint = f"Name it yourself: --metrics {told['class']}"
        raise RunError(f"The metric {told['name']} is none of localscore's own.", hint=hint)
    try:
        if "penalties" in fields:
            fields["penalties"] = Penalties(**fields["penalties"])
        return METRICS[told["name"]](**fields)
    except (KeyError, TypeError, OptionError):
        raise RunError(f"The metric {told} is not known to this version of localscore.") from None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
