"""Made-up samples and a made-up judge, the same each time; and what a report of many samples costs.

    python -m tests.reports.made_up [--samples 5000] [--passages 4000] [--out FOLDER]

scores that many samples with the made-up judge, writes the run and its report, and prints seconds and size.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localscore import api
from localscore.errors import ContextTooLong, OutputTruncated
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.results import Judgment
from localscore.texts import sentences
from localscore.verdicts import legal_values

WORDS = """bridge ferry river tower harbour valley engine museum ticket signal coach lantern copper granite winter
morning price length weight opening closing builder keeper captain garden kitchen recipe filter battery switch
manual warranty service station platform timetable festival library archive letter article paragraph number"""
ITEMS = ("the opening year", "the price of a single ticket", "who built it", "the weight in kilograms")
FIRST = {"relevance": 0.35, "usage": 0.25, "attribution": 0.25, "sufficiency": 0.15}
"""How much a made-up judge leans towards the first legal value."""


def judge(*, lean: float = 0.0, failing: float = 0.0, name: str = "made-up") -> ScriptedJudge:
    """A judge whose verdicts follow from a hash of what is asked, with probabilities from 0 to 1.

    Args:
        lean: added to the weight of the first legal value, so that scores rise.
        failing: the share of inquiries about claims that fail.
        name: of its identity.
    """

    def answer(inquiry: Inquiry[Any]) -> Answer:
        told = json.dumps([inquiry.question, dict(inquiry.texts)], sort_keys=True)
        chance = random.Random(hashlib.sha256(told.encode()).digest())
        if inquiry.question == "missing_context":
            return {"missing": chance.sample(ITEMS, chance.choice([1, 1, 2, 3]))}
        if inquiry.question == "claims":
            if chance.random() < failing:
                raise OutputTruncated("The limit of 640 tokens was reached before the claims were complete.")
            return {"claims": [part for part in sentences(inquiry.texts["text"]) if len(part) > 1][:16]}
        if inquiry.question == "attribution" and chance.random() < failing / 4:
            raise ContextTooLong("The prompt has 40112 tokens; the window of this judge has 32768.")
        values = legal_values(inquiry.verdict)
        weights = [chance.random() ** 3 + 1e-3 for _ in values]
        weights[0] += FIRST.get(inquiry.question, 0.0) + lean
        shares = [round(weight / sum(weights), 4) for weight in weights]
        probabilities = dict(zip([value.label() for value in values], shares, strict=True))
        return Judgment.of(values[shares.index(max(shares))], probabilities)

    return ScriptedJudge(answer, name=name)


def rows(samples: int, passages: int) -> list[dict[str, Any]]:
    """Rows with five contexts each, which are drawn from so many passages of about 90 words."""
    chance = random.Random(7)
    texts = [_text(chance, 6) for _ in range(passages)]
    return [
        {
            "id": f"sample-{n}",
            "query": f"Where is the {' '.join(chance.choices(WORDS.split(), k=7))}?",
            "contexts": chance.sample(texts, min(5, passages)),
            "answer": _text(chance, 2),
            "ground_truth": _text(chance, 2),
        }
        for n in range(samples)
    ]


def _text(chance: random.Random, count: int) -> str:
    made = (
        " ".join(chance.choices(WORDS.split(), k=chance.randint(10, 20))).capitalize() for _ in range(count)
    )
    return ". ".join(made) + "."


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a run of many samples and its report, and print what the report costs."""
    parser = argparse.ArgumentParser(description="What a report of many samples costs.")
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--passages", type=int, default=4000, help="different contexts, five to a sample")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "localscore-made-up")
    told = parser.parse_args(arguments)
    api.score(
        rows(told.samples, told.passages), judge=judge(failing=0.02), out=told.out / "run", overwrite=True
    )
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "localscore", "report", told.out / "run"], check=True)
    seconds = time.monotonic() - start
    size = (told.out / "run" / "report.html").stat().st_size / 1e6
    print(f"{told.samples} samples, {told.passages} passages: {seconds:.1f} s, {size:.1f} MB")


if __name__ == "__main__":
    main()
