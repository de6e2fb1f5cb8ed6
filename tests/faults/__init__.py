"""Inputs that broke other tools, one kind after the other, and what happens here instead.

what the judge does
    text that is no verdict, keys that are missing      tests/test_engine.py
    cut, too few, too many, repeated, NaN, no memory    tests/test_engine.py, judges/test_huggingface.py
    claims that come to no end                          metrics/test_parts.py
    a template that thinks first, has no system role    judges/test_chat.py
    a beginning of text twice                           judges/test_chat.py
    white space without end, bare words, huge schemas   faults/test_schemas.py, judges/test_huggingface.py
    sampling that its folder asks for                   faults/test_schemas.py
    slow, breaking at row n                             faults/test_runs.py
what is computed
    scores beyond the scale, counts of one and none     faults/test_arithmetic.py
    reasons against scores, denominators from texts     faults/test_arithmetic.py
    an answer that moves recall                         metrics/test_context_recall.py
    no contexts, no claims, no ground truth             metrics/, scoring/
what is read
    columns that are not there, empty inputs            tests/test_datasets.py
    broken files                                        faults/test_files.py
    50 languages, control characters, huge lines        faults/test_texts.py
    sentences of other scripts                          faults/test_texts.py
    longer than the window                              metrics/test_parts.py
    talk to the judge                                   tests/injection/
what is around it
    connections, telemetry, resources to download       tests/test_air_gap.py, tests/test_offline.py
    progress in logs                                    cli/test_cli.py
    runs that stop, runs that differ                    tests/test_interrupted.py, tests/test_compare.py
"""
