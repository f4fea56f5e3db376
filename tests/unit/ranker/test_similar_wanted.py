"""What can't be asked for: refused before OpenSearch is asked."""

from __future__ import annotations

from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker.errors import BodyError
from trifuse.ranker.similar import similar


@pytest.mark.parametrize("id", ["", "\udcff", 7])
def test_what_can_be_no_documents_id(id: Any) -> None:
    nowhere = OpenSearch("http://127.0.0.1:1")
    with pytest.raises(BodyError, match="can be no document's id"):
        similar(nowhere, None, "trials", doc_id=id)
