"""The command line with a judge that is a function and notes each inquiry before it answers.

python -m tests.noted_run NOTES SECONDS score … : NOTES gets a line per inquiry; each answer takes SECONDS.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from localscore import api
from localscore.cli import app
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.results import Judgment
from localscore.verdicts import legal_values
from tests.conftest import VERDICTS


def answer(inquiry: Inquiry[Any]) -> Answer:
    """A verdict, and probabilities, that depend on all that is asked."""
    values = legal_values(inquiry.verdict)
    if not values:
        return VERDICTS[inquiry.question]
    number = int(inquiry.key, 16)
    shares = [(number >> 8 * i) % 256 + 1 for i in range(len(values))]
    chosen = values[shares.index(max(shares))]
    given = {v.label(): round(share / sum(shares), 4) for v, share in zip(values, shares, strict=True)}
    return Judgment.of(chosen, given, prompt_tokens=len(inquiry.prompt))


def main(notes: str, seconds: str, *arguments: str) -> None:
    """Run one command."""
    file = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def slowly(inquiry: Inquiry[Any]) -> Answer:
        os.write(file, f"{inquiry.key}\n".encode())
        time.sleep(float(seconds))
        return answer(inquiry)

    judge = ScriptedJudge(slowly)
    api.load_judge = lambda *_, **__: judge
    sys.argv = ["localscore", *arguments]
    app.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
