"""The words of the tools that people use: for each the names of its columns."""

from __future__ import annotations

FIELDS = ("query", "contexts", "answer", "ground_truth", "id")

Names = dict[str, tuple[str, ...]]


def _within(objects: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{outer}.{inner}" for outer in objects.split() for inner in names)


_ASKED = ("question", "query", "user_input", "input", "prompt", "messages")
_ANSWERED = ("answer", "response", "output", "text", "messages")
_FOUND = ("contexts", "retrieved_contexts", "documents", "source_documents", "context")
_EXPECTED = ("answer", "response", "output", "expected", "reference", "ground_truth")
_TARGET = "targetResult.scoringData"
_AI = "ai.observability"

TOOLS: dict[str, Names] = {
    "localscore": {field: (field,) for field in FIELDS},
    "ragas": {
        "query": ("user_input", "question"),
        "contexts": ("retrieved_contexts",),
        "answer": ("response",),
        "ground_truth": ("reference",),
    },
    "DeepEval": {
        "query": ("input",),
        "contexts": ("retrieval_context", "retrievalContext"),
        "answer": ("actual_output", "actualOutput"),
        "ground_truth": ("expected_output", "expectedOutput"),
    },
    "Mastra": {
        "query": ("input", "input.inputMessages", f"{_TARGET}.input.inputMessages", f"{_TARGET}.input"),
        "contexts": ("options.context",),
        "answer": ("output", f"{_TARGET}.output"),
        "ground_truth": ("groundTruth", "item.groundTruth"),
    },
    "LangSmith": {
        "query": _within("inputs", *_ASKED),
        "contexts": _within("outputs inputs", *_FOUND),
        "answer": _within("outputs", *_ANSWERED),
        "ground_truth": _within("reference reference_outputs", *_EXPECTED),
    },
    "Phoenix": {
        "query": ("input", "attributes.input.value", *_within("input", *_ASKED)),
        "contexts": ("context", "attributes.retrieval.documents", *_within("output", *_FOUND)),
        "answer": ("output", "attributes.output.value", *_within("output", *_ANSWERED)),
        "ground_truth": _within("reference_output", *_EXPECTED),
        "id": ("context.span_id",),
    },
    "TruLens": {
        "query": ("input", f"{_AI}.record_root.input"),
        "contexts": (
            f"{_AI}.retrieval.retrieved_contexts",
            "Context Relevance_calls",
            "context_relevance_calls",
            "context_relevance_with_cot_reasons_calls",
        ),
        "answer": ("output", f"{_AI}.record_root.output"),
        "ground_truth": ("expected_response", f"{_AI}.record_root.ground_truth_output"),
        "id": ("record_id",),
    },
    "others": {
        "query": ("prompt", "messages"),
        "contexts": ("documents", "passages", "reference"),
        "answer": ("prediction", "messages"),
        "ground_truth": ("expected", "target"),
    },
}
"""For each tool and field the names of its columns; a dot goes into an object."""

ALIASES: dict[str, tuple[str, ...]] = {
    field: tuple(dict.fromkeys(name for names in TOOLS.values() for name in names.get(field, ())))
    for field in FIELDS
}
"""For each field of a sample the column names that are recognised, ours first."""

WEAK = {
    name
    for names in ALIASES.values()
    for name in names
    if name.rsplit(".", 1)[-1] in ("context", "messages") and name != "options.context"
}
"""Names that many a row has beside a better one; they count where no other does."""
