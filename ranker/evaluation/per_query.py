"""What each query is worth by each profile, as a table for spreadsheets. Pure."""

from __future__ import annotations

import csv
from typing import TextIO

from trifuse.ranker.evaluation.report import Evaluation


def write_per_query(evaluation: Evaluation, file: TextIO) -> None:
    """A header, then a row a profile and query: its text and each measure, parted by tabs."""
    rows = csv.writer(file, dialect="excel-tab", lineterminator="\n")
    measures = list(next(iter(evaluation.values.values())))
    rows.writerow(["profile", "query", "text", *measures])
    for profile, queries in evaluation.per_query.items():
        for query, values in queries.items():
            text = evaluation.texts.get(query, "")
            rows.writerow([profile, query, text, *(format(values[each], ".6g") for each in measures)])
