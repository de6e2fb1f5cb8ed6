"""Everyone in turn, sample by sample, round by round; and the medians of what that gave."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmark import limit
from benchmark.contestants import FLOAT32, NAMES, Contestant, OnePrompt, Outcome
from benchmark.limit import Limit
from benchmark.tasks import Task
from localscore.samples import Sample


@dataclass
class Turn:
    """What a contestant did with a sample in a round."""

    contestant: str
    sample: str
    round: int
    outcome: Outcome


@dataclass
class Race:
    """All turns of a task."""

    task: Task
    turns: list[Turn]

    def median(self, name: str, of: Callable[[Outcome], float]) -> float | None:
        """Return the median of a number over a contestant's turns."""
        return _median([of(turn.outcome) for turn in self.turns if turn.contestant == name])

    def ratio(self, name: str, to: str, of: Callable[[Outcome], float]) -> float | None:
        """Return the median of the ratios of a number, each within one sample and round."""
        mine, theirs = self.outcomes(name), self.outcomes(to)
        pairs = [(of(mine[key]), of(theirs[key])) for key in mine if key in theirs]
        return _median([a / b for a, b in pairs if b])

    def outcomes(self, name: str) -> dict[tuple[str, int], Outcome]:
        """Return a contestant's outcomes by sample and round."""
        return {(t.sample, t.round): t.outcome for t in self.turns if t.contestant == name}

    def share(self, name: str, of: Callable[[Outcome], float], among: Callable[[Outcome], float]) -> float:
        """Return a part of a whole, over all turns of a contestant."""
        outcomes = self.outcomes(name).values()
        return sum(map(of, outcomes)) / max(1, sum(map(among, outcomes)))

    def differences(self, name: str) -> tuple[int, list[dict[str, Any]]]:
        """Count the verdicts that ours gave as well, and list those that are not the same."""
        ours, theirs = self.outcomes(FLOAT32), self.outcomes(name)
        compared, found = 0, []
        for (sample, number), outcome in theirs.items():
            reference = ours.get((sample, number))
            for key, judgment in outcome.judgments.items() if reference and number == 0 else ():
                other = reference.judgments.get(key) if reference else None
                if other is None:
                    continue
                compared += 1
                if other.verdict != judgment.verdict:
                    found.append(
                        {
                            "sample": sample,
                            "question": judgment.question,
                            "ours": other.verdict,
                            "our_probabilities": other.probabilities,
                            name: judgment.verdict,
                            "probabilities": judgment.probabilities,
                        }
                    )
        return compared, found


def race(
    task: Task, samples: Sequence[Sample], contestants: Sequence[Contestant], bound: Limit, rounds: int
) -> Race:
    """Have everyone do a task; the limit is measured in each turn."""
    able = [c for c in contestants if task.one_prompt or not isinstance(c, OnePrompt)]
    for contestant in able:
        contestant.answer(task, min(samples, key=lambda sample: sum(map(len, sample.contexts))))
    turns: list[Turn] = []
    for number in range(rounds):
        for contestant in able:
            contestant.cold()
        for sample in samples:
            given = [Turn(c.name, sample.id, number, c.answer(task, sample)) for c in able]
            given.append(Turn(limit.NAME, sample.id, number, bound.outcome(given[0].outcome)))
            told = ", ".join(f"{turn.contestant} {turn.outcome.seconds:.1f} s" for turn in given)
            print(f"{task.name}, round {number + 1}, {sample.id}: {told}", file=sys.stderr, flush=True)
            turns += given
    return Race(task, turns)


def present(found: Race) -> list[str]:
    """Return the contestants that took part."""
    names = {turn.contestant for turn in found.turns}
    return [name for name in (*NAMES, limit.NAME) if name in names]


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
