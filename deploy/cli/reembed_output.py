"""What `trifuse reembed` says: where an index stands, and what goes by its old vectors still."""

from __future__ import annotations

import shlex
from typing import Any

from opensearchpy import OpenSearch

from trifuse.deploy.cli.common import COUNTED, emit, err, fail, print_lines, say
from trifuse.deploy.cli.ranking import pinned_profiles
from trifuse.indexer.errors import IndexMissing
from trifuse.indexer.reembed import Filled, left_in_old_space, stage_of
from trifuse.indexer.reembed.blue_green import open_copy
from trifuse.indexer.reembed.standing import part_vectors
from trifuse.ranker.errors import RankerError
from trifuse.ranker.profiles.store import ProfileStore

NOT_SWITCHED = "queries of {0!r} go by the old vectors until `trifuse reembed {0} --switch`"
SAID = {
    "current": "{0!r} has the vectors of this encoder: nothing to do",
    "tower": "only queries of {0!r} are encoded otherwise: its vectors stay, and its _meta names the new "
    "query tower; past queries follow with `trifuse clicks rebuild --index {0}`",
}


def switched_to(client: OpenSearch, index: str) -> str:
    """What queries go by after the switch; after one to a copy, what readers and writers must know."""
    copy = open_copy(client, index)
    if copy is None:
        return (
            f"queries of {index!r} go by the new vectors: `trifuse reembed {index} --rollback` leads back, "
            "--finish takes the old ones out"
        )
    return (
        f"the alias {copy.alias} stands for {copy.index}: have readers and writers go by it. {copy.source} "
        f"takes no writes any more; `trifuse reembed {copy.alias} --rollback` goes back to it, --finish "
        "deletes it"
    )


def say_of_parts(client: OpenSearch, index: str) -> None:
    """What becomes of vectors of single parts."""
    parts = part_vectors(client, index)
    if parts.follow:
        say(f"vectors of single parts are made anew as well: of {', '.join(parts.follow)}", "yellow")
    if parts.end:
        say(
            f"there are no new vectors of {', '.join(parts.end)}, for the new texts have no such part: from "
            "the switch on nothing is found by them (`trifuse similar --by`), and --finish takes them out",
            "yellow",
        )


def tell_reembed(
    client: OpenSearch,
    index: str,
    said: str,
    filled: Filled | None = None,
    *,
    before: str | None = None,
    given: str | None = None,
    as_json: bool,
) -> None:
    """The counts, where the index stands now, and what to do about its sentences and stored profiles.

    Args:
        before: the field that queries went by.
        given: the encoder as it was named: by its folder, it may be.
    """
    counted = filled or Filled(0, 0, 0, 0)
    try:
        stage = stage_of(client, index)
    except IndexMissing:  # it was the copy of an index that is gone, and was given up
        emit({**dict.fromkeys(COUNTED, 0), "step": "none"}) if as_json else print_lines([said])
        return
    if as_json:
        about: dict[str, Any] = {
            "step": stage.step,
            "serving": stage.serving,
            "encoder": stage.space.encoder.encoder,
            "failures": list(counted.failures),
        }
        emit({**{key: getattr(counted, key) for key in COUNTED}, **about})
    else:
        print_lines([said])
    if left := left_in_old_space(client, index):
        new = f"--encoder {shlex.quote(given or left.wanted)}"
        say(
            f"the sentences {left.index!r} stay with the encoder {left.present!r}: `trifuse reembed "
            f"{left.index} {'--rollback' if left.step == 'rollback' else new}` changes them as well",
            "yellow",
        )
    if before not in (None, stage.serving):
        _warn_of_pinned_profiles(client, index, before, stage.serving)


def _warn_of_pinned_profiles(client: OpenSearch, index: str, before: str, serving: str) -> None:
    """Name the stored profiles that stay behind with the field that the index was served by."""
    try:
        names = pinned_profiles(ProfileStore(client), before)
    except RankerError as error:
        say(f"stored profiles can't be read ({error}): some may name the vector field {before!r}", "yellow")
        return
    if names:
        say(
            f"the stored profiles {', '.join(names)} name the vector field {before!r}: by them searches of "
            f"{index!r} stay with it, and have no vectors once it is gone, while others go by {serving!r}. "
            f"If they are to follow: `trifuse profile show {names[0]} > profile.json`, set vector_field to "
            f"null in it, `trifuse profile set {names[0]} --from profile.json`",
            "yellow",
        )


def end_reembed(filled: Filled) -> None:
    """End with 1 where something failed, or stayed pending."""
    for line in filled.failures:
        err.print(f"trifuse: {line}", markup=False, soft_wrap=True)
    if filled.stalled:
        fail(filled.stalled)
    if filled.pending:
        fail(f"{filled.pending:,} documents are still pending: the same command goes on")
    if filled.failed:
        fail(f"{filled.failed:,} documents can't be embedded: the index trifuse-failed says why")
