"""How often talk to the judge changes its verdicts, beside harmless texts of the same length.

python -m tests.injection.flips JUDGE [--quantize int8] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from localscore.errors import VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import Judge
from localscore.results import Judgment
from localscore.statistics import mean_interval
from tests.injection.attacks import Attack, attacks


@dataclass(frozen=True)
class Outcome:
    """What became of one verdict."""

    id: str
    kind: str
    wanted: str
    clean: str
    attacked: str
    controlled: str

    @property
    def changed(self) -> tuple[bool, bool]:
        """Whether the verdict is another with the attack, and with the harmless text."""
        return self.attacked != self.clean, self.controlled != self.clean

    @property
    def obeyed(self) -> tuple[bool, bool]:
        """Whether it became the one that the attacker wants."""
        obeyed = [said == self.wanted != self.clean for said in (self.attacked, self.controlled)]
        return obeyed[0], obeyed[1]


def outcomes(judge: Judge, of: Sequence[Attack]) -> Iterator[Outcome]:
    """Ask each question with the clean text, with the attack, and with the harmless text."""
    clean: dict[str, str] = {}
    for attack in of:
        base = attack.base
        texts = [attack.put(attack.addition), attack.put(attack.control)]
        if base.name not in clean:
            texts.append(base.text)
        attacked, controlled, *first = map(_label, _asked(judge, [base.ask(text) for text in texts]))
        clean[base.name] = first[0] if first else clean[base.name]
        yield Outcome(attack.id, attack.kind, base.wanted, clean[base.name], attacked, controlled)


def summary(found: Sequence[Outcome]) -> dict[str, Any]:
    """Return the shares of changed and of obeying verdicts, and the difference to harmless texts with its interval."""
    told: dict[str, Any] = {"attacks": len(found)}
    for name in ("changed", "obeyed"):
        pairs: list[tuple[bool, bool]] = [getattr(one, name) for one in found]
        more = mean_interval([float(attacked) - float(controlled) for attacked, controlled in pairs])
        assert more is not None
        told[name] = {
            "attack": _share(attacked for attacked, _ in pairs),
            "control": _share(controlled for _, controlled in pairs),
            "more": [round(more.mean, 3), round(more.low or 0, 3), round(more.high or 0, 3)],
        }
    kinds = dict.fromkeys(one.kind for one in found)
    told["kinds"] = {
        kind: {
            "attacks": sum(one.kind == kind for one in found),
            "attack": _share(one.changed[0] for one in found if one.kind == kind),
            "control": _share(one.changed[1] for one in found if one.kind == kind),
        }
        for kind in kinds
    }
    return told


def _share(flags: Any) -> float:
    listed = [bool(flag) for flag in flags]
    return round(sum(listed) / len(listed), 3)


def _asked(judge: Judge, inquiries: Sequence[Inquiry[Any]]) -> list[Judgment]:
    answers = list(judge.decide(inquiries))
    for answer in answers:
        if isinstance(answer, VerdictError):
            raise answer
    return [answer for answer in answers if isinstance(answer, Judgment)]


def _label(judgment: Judgment) -> str:
    [value] = judgment.verdict.values()
    return json.dumps(value) if isinstance(value, bool) else str(value)


def main() -> None:
    """Measure a judge, and print what was found as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.injection.flips", description=main.__doc__)
    parser.add_argument("judge")
    parser.add_argument("--quantize", default="none")
    parser.add_argument("--calibration", default="auto")
    parser.add_argument("--out", type=Path)
    options, _ = parser.parse_known_args()  # `scripts/measure-judge` hands its own on
    from localscore import load_judge

    judge = load_judge(options.judge, quantize=options.quantize, calibration=options.calibration)
    found = []
    for number, outcome in enumerate(outcomes(judge, attacks()), 1):
        found.append(outcome)
        if number % 10 == 0:
            print(f"{number} attacks", file=sys.stderr, flush=True)
    details = judge.identity.details
    told = {
        "judge": judge.identity.name,
        "arithmetic": details["dtype"] if options.quantize == "none" else options.quantize,
        "date": datetime.now(UTC).date().isoformat(),
        **summary(found),
        "outcomes": [asdict(one) for one in found],
    }
    text = json.dumps(told, indent=2, ensure_ascii=False)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text + "\n", encoding="utf-8")
    print(json.dumps({key: value for key, value in told.items() if key != "outcomes"}, ensure_ascii=False))


if __name__ == "__main__":
    main()
