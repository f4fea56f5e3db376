"""Which encoder a search takes: the one of the space that its index is served in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoder

BySpace = Callable[[EncoderSpace], Encoder | None]
"""Makes the encoder of a space; None: there is none, and searches go without vectors."""


class Encoders:
    """Encoders by space; safe to share by threads, of which two may make the same one at once.

    Args:
        given: one encoder, several, or what makes them; None: there is none.
    """

    def __init__(self, given: Encoder | Sequence[Encoder] | BySpace | None) -> None:
        self._fixed: list[Encoder] = []
        self._make: BySpace | None = None
        self._made: dict[EncoderSpace, Encoder] = {}
        if isinstance(given, Sequence):
            self._fixed = list(given)
        elif given is not None and not hasattr(given, "encode_queries"):
            self._make = given
        elif given is not None:
            self._fixed = [cast(Encoder, given)]

    def of(self, space: EncoderSpace | None) -> Encoder | None:
        """The encoder of a space.

        Where none of those that were given is of that space, or the index has no vectors, the first of them:
        the one is refused where vectors are compared, and the other is for the click leg.
        """
        if self._make is None:
            return next(
                filter(lambda each: encoded_alike(each.space, space), self._fixed),
                next(iter(self._fixed), None),
            )
        if space is None:
            return None
        encoder = self._made.get(space) or self._make(space)
        if encoder is not None:
            self._made[space] = encoder
        return encoder


def encoded_alike(one: EncoderSpace, space: EncoderSpace | None) -> bool:
    """Whether documents are encoded alike; query towers may differ."""
    return space is not None and (one == space or one.as_dict() == space.as_dict())
