"""The deterministic core: verdicts in, a score and its reason out. It never calls a model.

>>> context_relevance(["high", "low"], [True, False], []).score
0.65
>>> context_recall([True, True, False]).reason
'The contexts support 2 of 3 claims: 2 / 3 × 1 = 0.67. Found: claim 1; claim 2. Lacking: claim 3.'
"""

from localscore.scoring.numbers import round_half_up
from localscore.scoring.precision import context_precision, nothing_to_compare
from localscore.scoring.relevance import Penalties, context_relevance
from localscore.scoring.support import context_recall, faithfulness, no_ground_truth, nothing_retrieved

__all__ = [
    "Penalties",
    "context_precision",
    "context_recall",
    "context_relevance",
    "faithfulness",
    "no_ground_truth",
    "nothing_retrieved",
    "nothing_to_compare",
    "round_half_up",
]
