"""What `--text` names: fields of plain texts, or for an encoder of parts the fields of each part."""

from __future__ import annotations

import typer

from trifuse.deploy.cli.common import names_in
from trifuse.encoder.spaces import EncoderSpace

_HINT = "--text"


def fields_and_parts(listed: str | None, encoder: EncoderSpace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields, and the part of each; no parts where the encoder takes plain texts.

    Wrong usage where parts aren't named as the encoder has them: `title=brief_title,condition=conditions`.
    """
    names = names_in(listed)
    if not encoder.parts:
        if names and all("=" in name for name in names):
            raise typer.BadParameter(
                f"the encoder {encoder.encoder} takes plain texts, without parts: name fields alone, or an "
                "encoder of parts (--encoder)",
                param_hint=_HINT,
            )
        return names, ()
    pairs = [(field.strip(), part.strip()) for part, _, field in (name.partition("=") for name in names)]
    wrong = [not field or part not in encoder.parts for field, part in pairs]
    if unknown := [name for name, is_wrong in zip(names, wrong, strict=True) if is_wrong]:
        example = f"{encoder.parts[0]}={unknown[0].rpartition('=')[2].strip() or 'name'}"
        raise typer.BadParameter(
            f"{', '.join(unknown)}: the encoder {encoder.encoder} takes the parts "
            f"{', '.join(encoder.parts)}; write PART=FIELD for each field, such as {example}",
            param_hint=_HINT,
        )
    return tuple(field for field, _ in pairs), tuple(part for _, part in pairs)
