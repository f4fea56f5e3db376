"""A trained model as a patch of the model that it was trained from, which the package can hold.

    python benchmarks/pack_model.py FOLDER --base bge-small-en-v1.5 --out encoder/shipped/NAME.patch

The model's graph must hold the base's weights as they are; its tokenizer must be the base's. Beside the patch
goes the folder's report of the training (`training.json`), under the patch's name. Where the model's name is
known (`trifuse encoders list`), what the folder says of itself must be what is registered. The patch is
applied once before it is put there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from trifuse.encoder.description import MODEL_FILE, TOKENIZER_FILE, ModelFolder, read_model
from trifuse.encoder.errors import TrifuseError
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.models import ModelSource
from trifuse.encoder.patches import apply_patch, make_patch
from trifuse.encoder.registry import encoder_names, find_model, open_model

REPORT = "training.json"


def pack(model: ModelFolder, base: ModelFolder, out: Path) -> Path:
    """Write the patch from one model's graph to another's, and that one's report beside it.

    Returns:
        `out`.

    Raises:
        ValueError: the two don't share their tokenizer, or the model is registered otherwise.
        ModelInvalid: the patch doesn't make the graph.
    """
    _require_registered(model)
    if sha256_of(model.path / TOKENIZER_FILE) != sha256_of(base.path / TOKENIZER_FILE):
        raise ValueError(f"{model.path} has another {TOKENIZER_FILE} than {base.path}: give its own base")
    patch = make_patch((base.path / MODEL_FILE).read_bytes(), (model.path / MODEL_FILE).read_bytes())
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=out.parent) as folder:
        new = Path(folder) / out.name
        new.write_bytes(patch)
        apply_patch(new, base.path / MODEL_FILE, Path(folder) / MODEL_FILE)
        new.replace(out)
    if (model.path / REPORT).is_file():
        shutil.copyfile(model.path / REPORT, out.with_suffix(".json"))
    return out


def _require_registered(model: ModelFolder) -> None:
    name = model.description.name
    if name not in encoder_names():
        return
    found = find_model(name)
    if isinstance(found, ModelSource) and found.description != model.description:
        raise ValueError(
            f"{model.path} is {model.description}, but {name!r} is registered as {found.description}"
        )


def main() -> int:
    """Pack, and say what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, metavar="FOLDER", help="of the trained model")
    parser.add_argument(
        "--base", required=True, help="the model that it was trained from: a name or a folder"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the patch")
    options = parser.parse_args()
    try:
        out = pack(read_model(options.model), open_model(options.base), options.out)
    except (TrifuseError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    graph = options.model / MODEL_FILE
    said = {"patch": str(out), "bytes": out.stat().st_size, "of": graph.stat().st_size}
    print(json.dumps(said | {"sha256": sha256_of(graph)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
