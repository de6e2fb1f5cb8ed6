from __future__ import annotations

import pytest

from localscore.labelled import Labelled
from localscore.overlap import overlap, overlaps


def test_the_best_context_counts() -> None:
    item = Labelled("attribution", "1", True, "Ann ran home.", ("Ann slept.", "It was Ann who ran.", "Home."))
    assert overlap(item, {}) == pytest.approx(2 / 3)


def test_usage_looks_from_both_sides() -> None:
    long = Labelled("usage", "1", True, "Who ran?", ("Ann ran. Bob slept until noon.",), "Ann ran.")
    assert overlap(long, {}) == pytest.approx((1 + 2 / 6) / 2)


def test_claims_are_split_into_sentences() -> None:
    assert overlaps([Labelled("claims", "1", (), "Ann ran. Bob slept.")]) == [("Ann ran.", "Bob slept.")]


def test_rarity_is_told_by_the_records_of_one_kind() -> None:
    relevance = [
        Labelled("relevance", str(n), "none", "bridge", (text,)) for n, text in enumerate(["bridge", "sea"])
    ]
    usage = Labelled("usage", "3", True, "Who?", ("bridge " * 9,), "bridge")
    assert overlaps([*relevance, usage]) == [1.0, 0.0, 1.0]
