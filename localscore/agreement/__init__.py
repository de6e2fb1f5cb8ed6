"""How well a judge agrees with people.

    answers.py      a labelled record → what the judge said of it
    calibrating.py  answers → calibrations, and what they change
    fitting.py      fits them (needs the extra)
    running.py      asks all records, keeps the answers in a folder, carries on
    report.py       what is told: `agreement.json`
    comparing.py    answers → report
    contestants.py  what people, judge, word overlap and other judges said, as numbers
    measures.py     the statistics: scikit-learn, SciPy, and the bootstrap
    reliability.py  whether probabilities are what they say
    matching.py     claims and missing items against those of people

The last five need the extra `agree`; they are imported only when something is measured.
"""

from __future__ import annotations

from localscore.agreement.answers import Answer, load_answers
from localscore.agreement.calibrating import Calibrated, calibrate
from localscore.agreement.report import Agreement, Estimate, KindAgreement, load_agreement
from localscore.agreement.running import agree, measured, require_statistics

__all__ = [
    "Agreement",
    "Answer",
    "Calibrated",
    "Estimate",
    "KindAgreement",
    "agree",
    "calibrate",
    "load_agreement",
    "load_answers",
    "measured",
    "require_statistics",
]
