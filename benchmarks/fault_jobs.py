"""The jobs of the fault matrix: a load, an attachment, embedding anew, and the click log."""

from __future__ import annotations

from collections.abc import Callable

from fault_checks import check_refresh, concrete, demand
from fault_clicks import Clicks
from fault_documents import Documents, tiny_encoder, write_file
from fault_job import DocumentsJob, Job
from fault_searches import Searches, searcher
from fault_stack import SLOW_S, Stack

from trifuse.encoder.registry import DEFAULT_ENCODER, describe_encoder, load_encoder
from trifuse.encoder.spaces import Space
from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.load import load
from trifuse.indexer.readers import read_trials
from trifuse.indexer.trial import trial_template
from trifuse.worker.embedding import embed

INTERVAL = "3s"
"""The owner's refresh interval of an index that is attached to."""


class Load(DocumentsJob):
    """`trifuse load` of a file with broken lines in it, then `trifuse sync --wait`."""

    part = 6

    def prepare(self) -> None:
        """Bulk writes so slow that the fault comes while the load writes."""
        self.stack.proxy.slow_s = 5 * SLOW_S

    def commands(self) -> None:
        """Load, again where a fault ended it, and sync."""
        path = self.stack.folder / f"{self.index}.jsonl"
        lines = write_file(path, self.documents.present.values())
        report = str(self.stack.folder / f"{self.index}.report.json")
        command = ("load", str(path), "--index", self.name, "--encoder", self.encoder, "--report", report)
        if self.full_disk:
            self.running = "load"
            ended = self.run(*command, full_disk=True)
            demand(ended.status == 1 and ended.result is None, f"a full disk went unnoticed: {ended}")
        result = self.insist(*command)
        counted = result["indexed"] + result["unchanged"] + len(result["rejected"])
        demand(
            result["read"] == lines == counted,
            f"{lines} lines, but {result['read']} read and {counted} counted",
        )
        self.sync_to_end()

    def load_meanwhile(self) -> None:
        """Nothing: it is this load's disk that was full."""

    def check_end(self) -> None:
        """The index's own refresh interval, which is OpenSearch's default."""
        check_refresh(self.stack.client, self.name, None)


class Attach(DocumentsJob):
    """An index that another writer made, `trifuse attach`, then `trifuse sync --wait`."""

    def prepare(self) -> None:
        """An index by dynamic mapping; every third document has a routing."""
        body = {"settings": {"index": {"knn": True, "number_of_shards": 2, "refresh_interval": INTERVAL}}}
        self.stack.client.indices.create(index=self.index, body=body)
        self.routing = {
            doc_id: f"r{place % 7}" for place, doc_id in enumerate(self.documents.present) if place % 3 == 0
        }
        actions = [
            Action(op="index", index=self.index, id=doc_id, source=source, routing=self.routing.get(doc_id))
            for doc_id, source in self.documents.present.items()
        ]
        demand(not bulk(self.stack.client, actions, refresh=True).failed, "OpenSearch refused documents")

    def commands(self) -> None:
        """Attach, again where a fault ended it, and sync."""
        self.insist(
            "attach", self.name, "--text", "brief_title", "--encoder", self.encoder, "--accept-version-bump"
        )
        self.sync_to_end()

    def check_end(self) -> None:
        """The owner's refresh interval is as it was."""
        check_refresh(self.stack.client, self.name, INTERVAL)


class Reembed(DocumentsJob):
    """An alias whose index is whole in one space, and `trifuse reembed` into another."""

    def __init__(self, stack: Stack, number: int, *, real: bool = False, **options: bool) -> None:
        super().__init__(stack, number, **options)
        self._new = DEFAULT_ENCODER if real else tiny_encoder(stack.folder, "tiny-two", 24)
        self._old = self.encoder
        if real:
            self.documents = Documents(number, unreadable=0)
        self.encoders = (self._new,)
        self.name = f"{self.index}-alias"

    def prepare(self) -> None:
        """What `trifuse load` and its worker leave, behind an alias."""
        client, path = self.stack.client, self.stack.folder / f"{self.index}.jsonl"
        write_file(path, self.documents.present.values())
        space = Space(describe_encoder(self._old), trial_template())
        load(client, read_trials([str(path)]), self.index, space=space)
        if self.name != self.index:
            client.indices.put_alias(index=self.index, name=self.name)
        hints = [(doc_id, None) for doc_id in self.documents.present]
        embed(client, load_encoder(self._old), self.index, "trifuse_vector", hints)
        client.indices.refresh(index=self.index)

    def searches(self) -> Searches:
        """Each response must be of one space."""
        encoders = [load_encoder(self._old), load_encoder(self._new)]
        texts = {doc_id: source["brief_title"] for doc_id, source in self.documents.present.items()}
        ranker = searcher(self.stack.client, encoders)
        return Searches(ranker, self.name, texts=texts, encoders=encoders, away=self._away)

    def commands(self) -> None:
        """Embed anew, again where a fault ended it, and sync."""
        self.insist("reembed", self.name, "--encoder", self._new, done=lambda result: not result["pending"])
        self.sync_to_end()

    def check_end(self) -> None:
        """The alias points to one index, another than before."""
        demand(concrete(self.stack.client, self.name) != self.index, "the alias wasn't moved")
        check_refresh(self.stack.client, self.name, None)
        self.check_spaces()

    def check_spaces(self) -> None:
        """Responses were of the old space first, then of the new one."""
        seen = self._searches.seen
        both = seen["space 1"] > 0 and seen["space 2"] > 0
        demand(both, f"not both spaces were searched: {dict(seen)}")


class ReembedInPlace(Reembed):
    """The same by a second vector field in the same index, which is named itself and has no alias."""

    def __init__(self, stack: Stack, number: int, **options: bool) -> None:
        super().__init__(stack, number, **options)
        self.name = self.index
        # Until `--finish` both fields are kept in step, each by a worker of its own encoder.
        self.encoders = (self._old, self._new)

    def check_end(self) -> None:
        """The index has its own refresh interval."""
        check_refresh(self.stack.client, self.name, None)
        self.check_spaces()


JOBS: dict[str, Callable[..., Job]] = {
    "load": Load,
    "attach": Attach,
    "reembed": Reembed,
    "reembed-in-place": ReembedInPlace,
    "clicks": Clicks,
}
