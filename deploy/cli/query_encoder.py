"""Which encoder the commands that rank encode queries with."""

from __future__ import annotations

from functools import partial

from trifuse.deploy.config import Settings
from trifuse.encoder.errors import EncoderError, ModelNotFound
from trifuse.encoder.registry import describe_encoder, encoder_names, load_encoder
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoder
from trifuse.ranker.encoders import BySpace


def query_encoder(settings: Settings, *, by_space: bool = False) -> Encoder | BySpace:
    """The encoder that was named; else what loads the one of the space that an index is served in.

    Args:
        by_space: several spaces are searched: the one that was named is for its own.

    Raises:
        EncoderError: the one that was named can't be loaded.
    """
    if settings.encoder_named and not by_space:
        return load_encoder(settings.encoder)
    return partial(_of_space, settings.encoder)


def _of_space(usual: str, space: EncoderSpace) -> Encoder:
    """The stack's own encoder where it is of that space, else the one that the space names.

    Raises:
        ModelNotFound: no encoder is known by that name.
        EncoderError: it can't be loaded.
    """
    if _is_of(usual, space):
        return load_encoder(usual)
    if space.encoder not in encoder_names():
        raise ModelNotFound(
            f"the index's vectors are in the space {space.id!r}, and the encoder {space.encoder!r} isn't "
            "known here: give its folder with --encoder (or TRIFUSE_ENCODER), or leave the vectors out "
            "(--profile lexical=1)"
        )
    return load_encoder(space.encoder)


def _is_of(name: str, space: EncoderSpace) -> bool:
    try:
        return describe_encoder(name).as_dict() == space.as_dict()
    except EncoderError:  # a folder that is gone
        return False
