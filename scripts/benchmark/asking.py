"""Asks one judge closed questions, in a process of its own whose memory can be measured.

python -m benchmark.asking JUDGE OPTIONS DATA MOST OUT, where OPTIONS are those of `load_judge` as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.tasks import all_samples, claims
from localscore import inquiries, labelled, load_judge
from localscore.inquiries import Inquiry, together
from localscore.results import Judgment
from localscore.verdicts import decided

_KINDS = ("relevance", "usage", "attribution", "sufficiency")


def ask(judge: str, options: dict[str, Any], data: str, most: int) -> dict[str, Any]:
    """Ask all questions; the first twice, so that the weights are there when the clock starts."""
    asked = questions(data, most)
    loaded = load_judge(judge, **options)
    list(loaded.decide(asked[0]))
    judgments = []
    start, begun = time.perf_counter(), time.process_time()
    for place, group in enumerate(asked, 1):
        print(f"{options}: {place} of {len(asked)}", file=sys.stderr, flush=True)
        for inquiry, answer in zip(group, loaded.decide(group), strict=True):
            if not isinstance(answer, Judgment):
                raise SystemExit(f"{inquiry.question}: {answer}")
            said = answer.features.probabilities if answer.features else answer.probabilities
            assert said is not None
            verdict, _ = decided(inquiry.verdict, said)
            judgments.append(
                {
                    "question": inquiry.question,
                    "said": said,
                    "verdict": verdict.model_dump(mode="json"),
                    "calibrated": answer.verdict,
                }
            )
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - begun,
        "judgments": judgments,
    }


def questions(data: str, most: int) -> Sequence[tuple[Inquiry[Any], ...]]:
    """Return closed inquiries, those in one tuple about one text.

    Args:
        data: a file or folder of human judgments; the benchmark's samples where empty.
        most: how many records of each kind, or samples.
    """
    if data:
        items = [item for item in labelled.read(data).items if item.kind in _KINDS]
        return [item.inquiries() for item in labelled.chosen(items, limit=most)]
    found: list[tuple[Inquiry[Any], ...]] = []
    for sample in all_samples()[:most]:
        for context in sample.contexts:
            level = inquiries.relevance(sample.query, context)
            found.append(together(level, inquiries.usage(sample.query, context, sample.answer or "")))
        for claim in claims(sample):
            evidence = inquiries.evidence(claim, sample.contexts)
            found.append(together(inquiries.attribution(claim, sample.contexts), evidence))
    return found


if __name__ == "__main__":
    _, judge, options, data, most, out = sys.argv
    told = ask(judge, json.loads(options), data, int(most))
    Path(out).write_text(json.dumps(told), encoding="utf-8")
