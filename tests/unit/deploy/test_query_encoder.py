from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from trifuse.deploy.cli import query_encoder as module
from trifuse.deploy.cli.query_encoder import query_encoder
from trifuse.deploy.config import Settings
from trifuse.encoder.errors import ModelNotFound
from trifuse.encoder.registry import DEFAULT_ENCODER, describe_encoder
from trifuse.encoder.spaces import EncoderSpace

OTHER = "bge-small-en-v1.5"


@pytest.fixture
def by_space(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable[[EncoderSpace], str]]:
    """What `query_encoder` gives where none is named; loading gives the name alone."""
    monkeypatch.setattr(module, "load_encoder", lambda name: f"loaded {name}")

    def make(usual: str = DEFAULT_ENCODER) -> Callable[[EncoderSpace], str]:
        settings = Settings("http://x:9200", None, None, usual)
        return cast(Callable[[EncoderSpace], str], query_encoder(settings))

    return make


def test_one_that_is_named_is_loaded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "load_encoder", lambda name: f"loaded {name}")
    assert query_encoder(Settings("http://x:9200", None, None, "mine", True)) == "loaded mine"  # type: ignore[comparison-overlap]


def test_the_one_of_the_space(by_space: Callable[..., Callable[[EncoderSpace], str]]) -> None:
    assert by_space()(describe_encoder(DEFAULT_ENCODER)) == f"loaded {DEFAULT_ENCODER}"
    assert by_space()(describe_encoder(OTHER)) == f"loaded {OTHER}"
    # A folder that is gone stands in nobody's way.
    assert by_space(str(Path("gone")))(describe_encoder(OTHER)) == f"loaded {OTHER}"


def test_one_of_another_revision_is_left_to_the_comparison(
    by_space: Callable[..., Callable[[EncoderSpace], str]],
) -> None:
    assert by_space()(replace(describe_encoder(OTHER), revision="other")) == f"loaded {OTHER}"


def test_an_unknown_one_is_asked_for(by_space: Callable[..., Callable[[EncoderSpace], str]]) -> None:
    mine = replace(describe_encoder(OTHER), encoder="mine")
    with pytest.raises(
        ModelNotFound, match="the encoder 'mine' isn't known here: give its folder with --enc"
    ):
        by_space()(mine)
