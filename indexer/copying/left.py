"""Switches and ways back that a killed process has left half done, while writers are refused."""

from __future__ import annotations

import time

from opensearchpy import OpenSearch

from trifuse.indexer.copying.copies import all_copies
from trifuse.indexer.copying.returning import source_is_there
from trifuse.indexer.copying.switch import revert

DEAD_S = 600.0
"""A switch takes a moment; one that takes so long isn't at work any more. One that is begins again."""


def revert_left(client: OpenSearch, index: str) -> list[str]:
    """Let writers go on where a switch of this index, or of that behind an alias, was left half done.

    Returns:
        Ways back that were left half done, a sentence each: these only their command ends, for documents may
        have been carried already.

    Raises:
        IndexMissing: there is no such index or alias.
    """
    left: list[str] = []
    for copy in all_copies(client, index):
        if time.time() - copy.standing.at < DEAD_S:
            continue
        if copy.standing.phase == "switching" and source_is_there(client, copy):
            revert(client, copy)
        elif copy.standing.phase == "returning":
            left.append(
                f"the way back from {copy.index!r} to {copy.source!r} was begun and not ended, and writers "
                f"are refused: run again what began it (`trifuse reembed {copy.index} --rollback`, or "
                "`trifuse detach`); `--switch` stays with the copy"
            )
    return left
