"""How time grows with contexts and claims, how memory grows with rows, and what cheaper arithmetic changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from statistics import median

from pydantic import ConfigDict

from benchmark.contestants import Judged
from benchmark.report import Table, number
from benchmark.tasks import EachContext, GivenClaims, Task, all_samples, claims
from benchmark.writers import OutlinesWriter
from localscore.judges.answering import SPELLING
from localscore.judges.loading import load_model
from localscore.results import KeptJudgment
from localscore.samples import Sample
from localscore.verdicts import Evidence, Verdict, parsed

_ITEMS = (1, 5, 20, 50)
_ROWS = (10, 1000)
_SMALLEST = "smollm2-135m"
_CLOSED = (Task("", "", EachContext()), Task("", "", GivenClaims(), needs_claims=True))


def growth(judge: str, rounds: int) -> Table:
    """Time one sample with more and more contexts, or claims over the same contexts."""
    ours = Judged("ours", load_model(judge, device="cpu"))
    work = {
        "contexts": (Task("relevance", "", EachContext()), _with_contexts),
        "claims": (Task("recall", "", GivenClaims()), _with_claims),
    }
    rows, data = [], []
    for items, (task, sample) in work.items():
        ours.answer(task, sample(1))
        outcomes = []
        for n in _ITEMS * rounds:
            ours.cold()
            outcomes.append((n, ours.answer(task, sample(n))))
        for n in _ITEMS:
            seconds = median(o.seconds for m, o in outcomes if m == n)
            read = median(o.cost.read for m, o in outcomes if m == n)
            data.append({"items": items, "count": n, "seconds": seconds, "read": read})
            cells = [number(seconds, 2), number(seconds / n, 3), number(read), number(read / n)]
            rows.append([f"{n} {items}", *cells])
    columns = ("items", "seconds", "seconds an item", "read", "read an item")
    return Table("growth: one sample, ours float32", columns, rows, "", data)


def memory() -> Table:
    """Measure the peak memory of `localscore score` with few and many rows, each in a process of its own."""
    rows, data = [], []
    with tempfile.TemporaryDirectory() as folder:
        for count in _ROWS:
            samples = Path(folder) / f"{count}.jsonl"
            lines = (
                {"query": f"Who rang bell {n}?", "contexts": [f"Ann rang bell {n}."]} for n in range(count)
            )
            samples.write_text("".join(json.dumps(line | {"answer": "Ann."}) + "\n" for line in lines))
            score = [sys.executable, "-m", "localscore", "score", str(samples), "--judge", _SMALLEST]
            score += ["--metrics", "context_relevance", "--out", str(samples.with_suffix(""))]
            start = time.perf_counter()
            with subprocess.Popen(score, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            seconds, peak = time.perf_counter() - start, usage.ru_maxrss / 1024
            data.append({"rows": count, "exit": process.returncode, "seconds": seconds, "peak_mib": peak})
            cells = [number(peak), number(seconds, 1), str(process.returncode)]
            rows.append([f"{count:,} rows", *cells])
    columns = ("rows", "peak MiB", "seconds", "exit status")
    return Table(f"memory: localscore score with {_SMALLEST}", columns, rows, "", data)


def arithmetic(judge: str, most: int) -> Table:
    """Compare the probabilities of all closed verdicts with those that float32 gives."""
    reference = _closed(judge, most, dtype="float32")
    rows, data = [], []
    for name, options in {
        "fp16-weights": {"quantize": "fp16-weights"},
        "int8": {"quantize": "int8"},
        "bfloat16": {"dtype": "bfloat16"},
    }.items():
        found = _closed(judge, most, **options)
        gaps = [
            max(
                abs(p - (judgment.probabilities or {})[label])
                for label, p in (found[key].probabilities or {}).items()
            )
            for key, judgment in reference.items()
        ]
        changed = [key for key, judgment in reference.items() if judgment.verdict != found[key].verdict]
        pairs = [(reference[key].model_dump(), found[key].model_dump()) for key in changed]
        data.append({"name": name, "gaps": gaps, "changed": pairs})
        cells = [f"{max(gaps):.4f}", f"{sum(gaps) / len(gaps):.5f}", f"{len(changed)}/{len(gaps)}"]
        rows.append([name, *cells])
    columns = ("arithmetic", "largest difference", "mean difference", "changed verdicts")
    note = "Per verdict, the largest difference among the probabilities of its values."
    return Table("arithmetic: closed verdicts against float32", columns, rows, note, data)


def agreement(judge: str, most: int) -> Table:
    """Compare closed verdicts with what plain Outlines writes for the same prompts in the same spelling."""
    ours = load_model(judge, device="cpu")
    asked = Judged("", ours)
    writer = OutlinesWriter(ours.folder)
    counts: Counter[str] = Counter()
    data = []
    for task in _CLOSED:
        for sample in task.samples(most):
            outcome = asked.answer(task, sample)
            print(f"agreement: {sample.id}", file=sys.stderr, flush=True)
            for inquiry in outcome.asked:
                found = outcome.judgments[inquiry.key]
                written = writer.write(inquiry.prompt, _spelled(inquiry.verdict), 24)  # type: ignore[arg-type]
                theirs = parsed(inquiry.verdict, written)
                why = _difference(found, theirs)
                counts[why] += 1
                if why != _SAME:
                    data.append({"question": inquiry.question, "ours": found.model_dump(), "plain": written})
    rows = [
        [why, str(counts[why]), f"{counts[why] / counts.total():.1%}"] for why in sorted(counts, reverse=True)
    ]
    title = "agreement: closed verdicts, ours float32 and plain Outlines in the same spelling"
    return Table(title, ("outcome", "verdicts", "share"), rows, "", data)


_SAME = "the same"


def _difference(ours: KeptJudgment, theirs: Verdict) -> str:
    """Say why two verdicts on one prompt are not the same."""
    if ours.verdict == theirs.model_dump(mode="json"):
        return _SAME
    probabilities = ours.probabilities or {}
    first: Counter[str] = Counter()
    for label, probability in probabilities.items():
        first[label[0]] += probability  # type: ignore[assignment]
    if isinstance(theirs, Evidence) and theirs.label()[0] == first.most_common(1)[0][0]:
        return "greedy decoding took the likeliest first digit, ours the likeliest number"
    if max(probabilities.values()) - probabilities[theirs.label()] <= 0.001:
        return "a tie within 0.001"
    return "unexplained"


@lru_cache(maxsize=64)
def _spelled(verdict: type[Verdict]) -> type[Verdict]:
    """Return the verdict with a schema that fixes the spelling, as our judge's does."""
    config = ConfigDict(json_schema_extra=lambda schema: schema.update({"x-guidance": SPELLING}))
    return type(verdict.__name__, (verdict,), {"model_config": config, "__module__": __name__})


def _closed(judge: str, most: int, **options: str) -> dict[str, KeptJudgment]:
    """Return all closed judgments on the samples by key."""
    asked = Judged("", load_model(judge, device="cpu", **options))  # type: ignore[arg-type]
    found: dict[str, KeptJudgment] = {}
    for task in _CLOSED:
        for sample in task.samples(most):
            print(f"arithmetic, {options}: {sample.id}", file=sys.stderr, flush=True)
            found |= asked.answer(task, sample).judgments
    return found


def _with_contexts(count: int) -> Sample:
    samples = all_samples()
    contexts = list(dict.fromkeys(text for sample in samples for text in sample.contexts))
    again = [f"{text} (again)" for text in contexts]
    return samples[0].model_copy(update={"contexts": tuple(_first(contexts + again, count))})


def _with_claims(count: int) -> Sample:
    samples = [sample for sample in all_samples() if claims(sample)]
    given = list(dict.fromkeys(claim for sample in samples for claim in claims(sample)))
    return samples[0].model_copy(update={"metadata": {"claims": tuple(_first(given, count))}})


def _first(texts: Sequence[str], count: int) -> Sequence[str]:
    if len(texts) < count:
        raise ValueError(f"The samples hold {len(texts)} texts; expected at least {count}.")
    return texts[:count]
