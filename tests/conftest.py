"""What tests share: a small real judge, and samples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from localscore.judges import store
from localscore.judges.cards import card_named
from localscore.judges.scripted import ScriptedJudge
from localscore.samples import Sample

if TYPE_CHECKING:
    from localscore.judges.huggingface import HuggingFaceJudge

SMALL = "smollm2-135m"

# Plain Outlines, the oracle, compiles its mask kernels at first use, which takes seconds and gains nothing here.
os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")

# The same examples in every run, so that a change is judged by itself; `--hypothesis-profile=default` looks further.
settings.register_profile("steady", derandomize=True)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def small_judge() -> HuggingFaceJudge:
    """The small real judge; tests that ask it are skipped where it has not been pulled."""
    if not store.installed(card_named(SMALL)):
        pytest.skip(f"the judge {SMALL} is not here; run: localscore models pull {SMALL}")
    from localscore.judges.loading import load_model

    return load_model(SMALL, device="cpu")


VERDICTS: dict[str, dict[str, Any]] = {
    "relevance": {"level": "high"},
    "usage": {"used": True},
    "sufficiency": {"sufficient": True},
    "missing_context": {"missing": ["the price"]},
    "claims": {"claims": ["Ann opened the bridge.", "It opened in 1931."]},
    "attribution": {"supported": True},
    "evidence": {"sentence": 1},
}


def scripted(**changes: Any) -> ScriptedJudge:
    """A judge that says yes to everything but for the questions given."""
    return ScriptedJudge(lambda inquiry: (VERDICTS | changes)[inquiry.question])


def sample(**changes: Any) -> Sample:
    """A sample that every metric can score."""
    fields: dict[str, Any] = {
        "id": "1",
        "query": "Who opened the bridge, and when?",
        "contexts": ("Ann opened the bridge in 1931.", "Bananas are yellow."),
        "answer": "Ann did, in 1931.",
        "ground_truth": "Ann opened the bridge in 1931.",
    }
    return Sample(**(fields | changes))
