"""The peer of `speed_tune`: ranx, run in an environment of its own.

Reads lines of JSON and answers each with a line. First `{"runs": [{query: {document: score}}], "qrels":
{query: {document: grade}}}`: the seconds that making ranx's own objects of them took. Then
`{"weights": [[weight of each run]]}`: the seconds that normalising took and those of all settings, and each
one's mean nDCG@10. This is what ranx's own `optimize_fusion` does: it normalises once, then goes by setting.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def serve() -> None:
    """Answer until stdin ends."""
    # Whatever libraries print goes to stderr: stdout holds answers only.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    from ranx import Qrels, Run, evaluate, fuse
    from ranx.normalization import norm_switch

    runs: list[Any] = []
    qrels: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        answer: dict[str, Any]
        if "runs" in request:
            runs = [Run(run) for run in request["runs"]]
            qrels = Qrels(request["qrels"])
            answer = {"build_s": time.perf_counter() - start}
        else:
            normalized = [norm_switch("min-max")(run) for run in runs]
            between = time.perf_counter()
            values = []
            for weights in request["weights"]:
                fused = fuse(normalized, norm=None, method="wsum", params={"weights": weights})
                values.append(float(evaluate(qrels, fused, "ndcg@10", save_results_in_run=False)))
            end = time.perf_counter()
            answer = {"normalize_s": between - start, "settings_s": end - between, "values": values}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
