from __future__ import annotations

from typing import Any

import pytest

from localscore import inquiries
from localscore.calibration import CALIBRATED, Calibration
from localscore.errors import JudgeFailed, VerdictCountMismatch
from localscore.inquiries import Inquiry, measuring, together
from localscore.judges.calibrated import CalibratedJudge
from localscore.judges.scripted import ScriptedJudge
from localscore.results import Judgment

EXPLAINING = {"usage": Calibration(judge=(0.0,), explained=4.0, cuts=(2.0,))}


def hesitant(inquiry: Inquiry[Any]) -> Judgment:
    """Half and half; every text holds 40 bits, and 10 where there is a context."""
    empty = inquiry.texts.get("context", inquiry.texts.get("contexts")) == ""
    bits = (40.0 if empty else 10.0) if inquiry.measured else None
    return Judgment(verdict={"used": True}, probabilities={"true": 0.5, "false": 0.5}, bits=bits)


def asked(judge: CalibratedJudge, *inquiries: Inquiry[Any]) -> list[Any]:
    return list(judge.decide(inquiries))


def test_the_question_without_contexts_is_asked_once_for_all_contexts() -> None:
    inner = ScriptedJudge(hesitant)
    judge = CalibratedJudge(inner, EXPLAINING)
    used = [inquiries.usage("Who?", context, "Ann.") for context in ("Ann ran.", "Bob ran.")]
    first, second = asked(judge, *used)
    assert first.probabilities == second.probabilities == {"true": 0.7311, "false": 0.2689}
    assert [inquiry.texts["context"] for inquiry in inner.asked] == ["", "Ann ran.", "Bob ran."]
    asked(judge, inquiries.usage("Who?", "Cid ran.", "Ann."))
    assert [inquiry.texts["context"] for inquiry in inner.asked[3:]] == ["Cid ran."]


def test_only_what_is_wanted_is_measured() -> None:
    inner = ScriptedJudge(hesitant)
    judge = CalibratedJudge(inner, {"usage": Calibration(overlap=3.0, cuts=(1.0,))})
    [found] = asked(judge, inquiries.usage("Who?", "Ann.", "Ann."))
    assert [inquiry.measured for inquiry in inner.asked] == [False]
    assert found.probabilities["true"] == 0.8808


def test_other_questions_and_errors_pass_as_they_are() -> None:
    error = JudgeFailed("no")
    judge = CalibratedJudge(ScriptedJudge(lambda i: {"sufficient": True}), EXPLAINING)
    [found] = asked(judge, inquiries.sufficiency("Who?", ("Ann.",)))
    assert (found.verdict, found.features) == ({"sufficient": True}, None)

    class Failing(ScriptedJudge):
        def decide(self, inquiries: Any) -> Any:
            yield from [error] * len(inquiries)

    assert asked(CalibratedJudge(Failing(hesitant), EXPLAINING), inquiries.usage("?", "A.", "A.")) == [error]


def test_a_judge_that_cannot_count_is_found_out() -> None:
    class Mute(ScriptedJudge):
        def decide(self, inquiries: Any) -> Any:
            yield from ()

    judge = CalibratedJudge(Mute(hesitant), EXPLAINING)
    assert asked(judge, inquiries.usage("?", "A.", "A.")) == []
    with pytest.raises(KeyError):
        _ = judge._without_contexts([])["?"]
    [told] = judge._without_contexts([inquiries.usage("?", "A.", "A.")]).values()
    assert isinstance(told, VerdictCountMismatch)


def test_calibrations_are_part_of_who_judges() -> None:
    inner = ScriptedJudge(hesitant)
    one, other = (CalibratedJudge(inner, {"usage": Calibration(cuts=(cut,))}) for cut in (1.0, 2.0))
    assert len({inner.identity.fingerprint, one.identity.fingerprint, other.identity.fingerprint}) == 3
    assert one.identity.details["uncalibrated"] == inner.identity.fingerprint


def test_features_are_kept_of_observed_questions_and_verdicts_stay() -> None:
    judge = CalibratedJudge(ScriptedJudge(hesitant), {}, observed=CALIBRATED)
    [found] = asked(judge, inquiries.usage("Who?", "Ann ran.", "Ann."))
    assert found.probabilities == {"true": 0.5, "false": 0.5}
    assert (found.features.bits, found.features.bits_without, found.features.overlap) == (10.0, 40.0, 0.75)


def test_what_is_asked_together_is_measured_together() -> None:
    level, used = together(inquiries.relevance("Who?", "Ann."), inquiries.usage("Who?", "Ann.", "Ann."))
    one, two = (measuring(inquiry, {"usage"}) for inquiry in (level, used))
    assert one.beside == two.beside
    assert [inquiry.measured for inquiry in one.beside] == [False, True]
    assert one.key != level.key
