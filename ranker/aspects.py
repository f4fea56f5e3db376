"""Query encoders of aspects: which of them a search takes, and one of its aspects as an encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, cast

from trifuse.encoder.aspects import require_aspect
from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import Role
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker.encoders import encoded_alike
from trifuse.ranker.errors import BodyError


class AspectEncoder(Protocol):
    """Encodes queries for an aspect, into the space of documents that were never encoded for it."""

    @property
    def name(self) -> str:
        """What the adapter is called."""

    @property
    def aspects(self) -> Sequence[str]:
        """The aspects that it knows."""

    @property
    def space(self) -> EncoderSpace:
        """The space of the documents that it was trained against."""

    @property
    def revision(self) -> str:
        """A hash of all that moves its vectors."""

    @property
    def provider(self) -> str:
        """The device that does the work."""

    def encode_queries(self, texts: Sequence[str], aspect: str) -> Vectors:
        """(n, dim) float32. Raises InvalidText where a text can't be encoded."""


By = Literal["given", "rule"]
"""What an aspect was told by: a name, or the wording of a question."""

BySpace = Callable[[EncoderSpace], Sequence[AspectEncoder]]
"""Loads the adapters of a space; none, where none is known."""


class Adapters:
    """Adapters by space; safe to share by threads, of which two may load the same ones at once.

    Args:
        given: one adapter, several, or what loads those of a space; None: there are none.
    """

    def __init__(self, given: AspectEncoder | Sequence[AspectEncoder] | BySpace | None) -> None:
        self._load: BySpace | None = None
        self._given: Sequence[AspectEncoder] = ()
        self._loaded: dict[EncoderSpace, Sequence[AspectEncoder]] = {}
        if isinstance(given, Sequence):
            self._given = list(given)
        elif given is not None and not hasattr(given, "encode_queries"):
            self._load = given
        elif given is not None:
            self._given = [cast(AspectEncoder, given)]

    def of(self, space: EncoderSpace, aspect: str, *, name: str | None = None) -> AspectEncoder:
        """The first adapter for the vectors of a space that knows the aspect.

        Args:
            name: of the one to take.

        Raises:
            AspectUnknown: none of them knows the aspect; it names those that they know.
            BodyError: none of them has that name.
            SpaceMismatch: they are for the vectors of another space.
        """
        adapters = self._of_space(space)
        found = [each for each in adapters if name in (None, each.name)]
        if adapters and not found:
            there = ", ".join(sorted({each.name for each in adapters}))
            raise BodyError(f"no adapter {name!r} is at hand: there is {there}")
        fitting = [each for each in found if encoded_alike(each.space, space)]
        if not fitting:
            raise SpaceMismatch(_no_adapter(space, found))
        require_aspect(aspect, list(dict.fromkeys(name for each in fitting for name in each.aspects)))
        return next(each for each in fitting if aspect in each.aspects)

    def _of_space(self, space: EncoderSpace) -> Sequence[AspectEncoder]:
        if self._load is None:
            return self._given
        if space not in self._loaded:
            self._loaded[space] = self._load(space)
        return self._loaded[space]


def _no_adapter(space: EncoderSpace, found: Sequence[AspectEncoder]) -> str:
    remedy = "train one for it (`trifuse train aspect`), or embed the sentences by its encoder (--encoder)"
    if not found:
        return (
            f"the sentences' vectors are in the space {space.id!r}, and no adapter is known for it: {remedy}"
        )
    ours = ", ".join(f"{each.name!r} is for {each.space.id!r}" for each in found)
    return f"the sentences' vectors are in the space {space.id!r}, the adapter {ours}: name another, {remedy}"


class OfAspect:
    """One aspect of an adapter, as an encoder of queries.

    Its space names the adapter as the query tower: past queries of the click log, which were encoded without
    it, are compared with none of its vectors.
    """

    def __init__(self, adapter: AspectEncoder, aspect: str) -> None:
        self._adapter = adapter
        self._aspect = aspect
        self.adapter = adapter.name
        self.space = replace(adapter.space, query_tower=f"{adapter.revision}:{aspect}")

    @property
    def provider(self) -> str:
        """The device that does the work."""
        return self._adapter.provider

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32, for the aspect."""
        return self._adapter.encode_queries(texts, self._aspect)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Refused: documents are encoded by the model itself, and for no aspect.

        Raises:
            SpaceMismatch: always.
        """
        raise SpaceMismatch(_queries_alone(self._adapter.name))

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """Refused, as documents are.

        Raises:
            SpaceMismatch: always.
        """
        raise SpaceMismatch(_queries_alone(self._adapter.name))


@dataclass(frozen=True)
class Chosen:
    """What a search asks for.

    Args:
        aspect: None: no aspect.
        by: whether it was given, or a rule told it.
        words: of a question, by which a rule told it.
        encoder: of the aspect; None without one.
        reason: why there is no aspect.
    """

    aspect: str | None
    by: By
    words: str | None = None
    encoder: OfAspect | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """For the response."""
        return {
            "name": self.aspect,
            "by": self.by,
            "words": self.words,
            "adapter": None if self.encoder is None else self.encoder.adapter,
            "reason": self.reason,
        }


def _queries_alone(name: str) -> str:
    return f"the adapter {name!r} encodes queries alone: documents are encoded by their own model"
