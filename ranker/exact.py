"""How many vectors an exact dense leg would have to score; counted only where there is no k-NN index."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.ranker.errors import RankerError
from trifuse.ranker.kept import Kept
from trifuse.ranker.legs import EXACT_LIMIT, with_vector
from trifuse.ranker.request import Request
from trifuse.ranker.server import as_sent, asking
from trifuse.ranker.types import Candidates, Clause


class ExactCandidates:
    """Tells which documents are scored one by one; what was counted is used for some seconds."""

    def __init__(self, client: OpenSearch) -> None:
        self._client = client
        self._few = Kept[bool]()

    def of(self, request: Request, *, always: bool = False) -> Candidates | None:
        """All that the filters match, if they are few enough; None where a k-NN index is searched.

        Args:
            always: all that they match in any case: the caller knows that they are few.
        """
        if request.encoded.dense.state != "ok":
            return None
        if always:
            return "filters"
        if not request.target.is_exact(request.field):
            return None
        clause = request.filters.clause
        try:
            few = self._are_few(request, None) or (clause is not None and self._are_few(request, clause))
        except RankerError:  # not counted: what is bounded by itself is searched
            few = False
        return "filters" if few else "lexical"

    def _are_few(self, request: Request, clause: Clause | None) -> bool:
        params = {
            key: request.url.header[key]
            for key in ("routing", *request.url.resolving)
            if key in request.url.header
        }
        body = as_sent({"query": with_vector(request.field, clause)})
        key = (request.target.expression, repr(sorted(params.items())), str(body))
        return self._few.get(key, lambda: self._count(request.target.expression, body, params) <= EXACT_LIMIT)

    def _count(self, expression: str, body: object, params: dict[str, object]) -> int:
        with asking(expression):
            answer = self._client.count(
                index=expression, body=body, params={**params, "terminate_after": EXACT_LIMIT + 1}
            )
        return int(answer["count"])
