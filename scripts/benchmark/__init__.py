"""Measures localscore's judges against other ways to the same verdicts, and against what the machine can do.

tasks.py        what is asked: the samples, and a metric per task
contestants.py  who is asked: judges, and scorers that put everything into one prompt
writers.py      libraries that write JSON under a schema: Outlines, llama.cpp
limit.py        the seconds that the work must take on this machine
race.py         everyone in turn, and the medians of ratios
studies.py      growth, memory, and the arithmetics against float32
backends.py     transformers and llama.cpp on the same weights
rows.py         everything but the judge, with many rows
asking.py       a judge asked in a process of its own, for that
report.py       bench.json and bench.md
"""

import os

from localscore.judges.loading import MANNERS
from localscore.offline import SWITCHES

# Compiling llguidance's torch kernel would save a millisecond of a pass, and needs a C++ compiler and half a minute.
os.environ.update(MANNERS | SWITCHES | {"TORCHDYNAMO_DISABLE": "1"} | os.environ)
