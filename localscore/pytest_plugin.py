"""The fixture `localscore` for pytest: samples held to scores, with a judge that is loaded once.

    def test_context_is_found(localscore):
        localscore.assert_score({"query": "Who ran?", "contexts": ["Ann ran."], "ground_truth": "Ann ran."},
                                "context_recall", min=0.8)

The judge is named by `--localscore-judge`, `LOCALSCORE_JUDGE`, or the project's `localscore.toml`; where there is none,
such tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from localscore.judges import Judge
    from localscore.results import ScoreResult

_PROPERTY = "localscore"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line."""
    group = parser.getgroup("localscore")
    group.addoption("--localscore-judge", metavar="NAME", help="A judge's card, folder or .gguf file.")
    group.addoption("--localscore-report", action="store_true", help="Show a table of all scores at the end.")


@pytest.fixture(scope="session")
def localscore_judge(pytestconfig: pytest.Config) -> Judge:
    """The judge of the session; define a fixture of this name to bring one of your own."""
    from localscore.settings import found_from  # noqa: PLC0415  (a plugin is loaded by every pytest)

    name = pytestconfig.getoption("--localscore-judge") or os.environ.get("LOCALSCORE_JUDGE")
    name = name or found_from(pytestconfig.rootpath).values.get("judge")
    if not name:
        pytest.skip("no judge was named; pass --localscore-judge NAME, or set LOCALSCORE_JUDGE")
    from localscore.errors import JudgeMissing, UnknownJudge  # noqa: PLC0415
    from localscore.judges.loading import load_judge  # noqa: PLC0415

    try:
        return load_judge(name)
    except (JudgeMissing, UnknownJudge) as error:
        pytest.skip(f"the judge {name} is not here: {error}")


@pytest.fixture
def localscore(localscore_judge: Judge, request: pytest.FixtureRequest) -> LocalScore:
    """Scores samples, and asserts that they reach a score."""
    return LocalScore(localscore_judge, request.node)


class LocalScore:
    """What the fixture gives; every verdict is kept in the cache that all runs share."""

    def __init__(self, judge: Judge, node: pytest.Item) -> None:
        self.judge = judge
        self._node = node

    def score(self, sample: Mapping[str, Any], metric: str) -> ScoreResult:
        """Score a sample by the written form of a metric, such as `context_recall` or `context_relevance@100`.

        Raises:
            DataError: the sample cannot be read.
            OptionError: there is no such metric.
        """
        return self.scores([sample], metric)[0]

    def scores(self, samples: Iterable[Mapping[str, Any]], metric: str) -> list[ScoreResult]:
        """Score several samples in one batched pass; see `score`."""
        from localscore import api  # noqa: PLC0415
        from localscore.cache import cache_path  # noqa: PLC0415
        from localscore.metrics.written import metric_of  # noqa: PLC0415

        chosen = metric_of(metric)
        run = api.score(list(samples), judge=self.judge, metrics=[chosen], cache=cache_path())
        found = [result.scores[chosen.name] for result in run.results]
        for result, score in zip(run.results, found, strict=True):
            told = {"sample": result.id, "metric": metric, "score": score.score, "status": score.status}
            self._node.user_properties.append((_PROPERTY, told))
        return found

    def assert_score(self, sample: Mapping[str, Any], metric: str, *, min: float) -> ScoreResult:
        """Fail the test where a sample does not reach a score, or where there is none; return the score."""
        return self.assert_scores([sample], metric, min=min)[0]

    def assert_scores(
        self, samples: Sequence[Mapping[str, Any]], metric: str, *, min: float
    ) -> list[ScoreResult]:
        """Hold each of several samples to a score, in one batched pass; see `assert_score`."""
        found = self.scores(samples, metric)
        short = [
            f"sample {number}: {metric} is {score.score}; expected at least {min:g}. {score.reason}"
            for number, score in enumerate(found, 1)
            if score.score is None or score.score < min
        ]
        if short:
            pytest.fail("\n".join(short), pytrace=False)
        return found


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show all scores, those of other processes too, which come with the tests' reports."""
    if not config.getoption("--localscore-report"):
        return
    rows = list(_told(terminalreporter))
    terminalreporter.section("localscore")
    for test, told in rows:
        score = "–" if told["score"] is None else f"{told['score']:.2f}"
        terminalreporter.write_line(f"{score:>8}  {told['status']:<16} {told['metric']:<32} {test}")
    terminalreporter.write_line(f"{len(rows)} score{'s' * (len(rows) != 1)}")


def _told(terminalreporter: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                yield from (
                    (report.nodeid, told) for name, told in report.user_properties if name == _PROPERTY
                )
