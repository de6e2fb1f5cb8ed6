"""Files of human judgments → records to put to a judge, with file and line in every complaint.

A file holds one kind of judgment, a JSON object a line; which one is told by its fields:

    relevance    query, passage, level (or grade 0-3), scale: graded | binary
    attribution  claim, contexts, label: yes | no
    usage        query, contexts, answer, used: one true or false a context
    sufficiency  query, contexts, sufficient, missing, missing_answer
    claims       text, claims
    (others)     id, shape, model, pred or score: what other judges said of these records

Everywhere `id` is needed; `set`, `lang` and `query` are used where they are there.

    records.py  one record, and choosing among many
    rows.py     the rows of each kind of file
    files.py    files and folders → records
"""

from __future__ import annotations

from localscore.labelled.files import Records, read
from localscore.labelled.records import KINDS, Kind, Labelled, Opinion, chosen
from localscore.labelled.rows import Other

__all__ = ["KINDS", "Kind", "Labelled", "Opinion", "Other", "Records", "chosen", "read"]
