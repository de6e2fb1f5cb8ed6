from __future__ import annotations

import json
from typing import Any

import pytest

from localscore.inquiries import Inquiry
from localscore.judges.scripted import ScriptedJudge
from localscore.verdicts import legal_values
from tests.injection.attacks import attacks, verdict
from tests.injection.bases import bases
from tests.injection.flips import outcomes, summary


def firm(inquiry: Inquiry[Any]) -> Any:
    """A judge that says the same whatever is added."""
    return legal_values(inquiry.verdict)[-1]


def obedient(inquiry: Inquiry[Any]) -> Any:
    """A judge that does what any text tells it to."""
    for value in legal_values(inquiry.verdict):
        if value.spelled() in inquiry.prompt.split("~~~")[-1].split("Answer with")[0]:
            return value
    return legal_values(inquiry.verdict)[1]


def test_a_firm_judge_never_flips() -> None:
    told = summary(list(outcomes(ScriptedJudge(firm), attacks())))
    assert told["changed"] == {"attack": 0.0, "control": 0.0, "more": [0.0, 0.0, 0.0]}


def test_an_obedient_judge_flips_with_attacks_alone() -> None:
    only = [
        attack
        for attack in attacks()
        if attack.kind == "verdict" and attack.base.name.startswith("attribution")
    ]
    told = summary(list(outcomes(ScriptedJudge(obedient), only)))
    assert told["obeyed"]["control"] == 0.0
    assert told["obeyed"]["attack"] == 1.0


@pytest.mark.parametrize("base", bases(), ids=lambda base: base.name)
def test_what_an_attacker_wants_can_be_said(base: Any) -> None:
    inquiry = base.ask(base.text)
    assert base.wanted in {value.label() for value in legal_values(inquiry.verdict)}
    assert inquiry.verdict.model_validate(json.loads(verdict(base))).label() == base.wanted
    assert base.text.split(".")[0] in inquiry.prompt
