"""What an index expression stands for: its indices, the alias filter that holds, spaces and fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as of_dataclass
from fnmatch import fnmatchcase
from typing import Any

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.encoder.ours import origin_in, sentences_in
from trifuse.encoder.spaces import EncoderSpace, Space, require_same_space, serving_field, spaces_in_meta
from trifuse.ranker.errors import BodyError
from trifuse.ranker.types import Clause

_TEXT_TYPES = frozenset({"annotated_text", "match_only_text", "search_as_you_type", "semantic", "text"})


@dataclass(frozen=True)
class Target:
    """An index, an alias, a pattern or a list of them, resolved.

    Args:
        expression: as it goes into a request.
        indices: the concrete indices.
        alias_filter: what holds for every document within reach; None without a filtered alias.
        spaces: index to vector field to space.
        fields: every field that any of the indices maps.
        text_fields: those that any of them analyses.
        plain_fields: those that any of them maps to a type that isn't analysed.
        pipeline: the search pipeline that the server runs where a request names none.
        serving: the vector field that queries go by; None where no index has one.
        exact: the indices with vectors of which no k-NN index is built (`index.knn` isn't on).
        sentences: index to the index of its sentences, as its `_meta` names it; sentences are their own.
        parents: index of sentences to the index that they are of.
    """

    expression: str
    indices: frozenset[str]
    alias_filter: Clause | None
    spaces: Mapping[str, Mapping[str, Space]]
    fields: frozenset[str]
    text_fields: frozenset[str]
    plain_fields: frozenset[str] = frozenset()
    pipeline: str | None = None
    serving: str | None = None
    exact: frozenset[str] = frozenset()
    sentences: Mapping[str, str] = of_dataclass(default_factory=dict)
    parents: Mapping[str, str] = of_dataclass(default_factory=dict)

    @property
    def is_one_name(self) -> bool:
        """Whether the expression is the name of one index or alias."""
        return not set("*,") & set(self.expression) and self.expression != "_all"

    def is_text(self, field: str) -> bool | None:
        """Whether a match on the field, or on any field of a pattern, is full text; None: in some indices."""
        if "*" not in field:
            found = {field} if field in self.text_fields else set()
        else:
            found = {each for each in self.text_fields if _names(field, each)}
        if not found:
            return False
        return True if found - self.plain_fields else None

    def vector_fields(self) -> list[str]:
        """The fields that hold trifuse's vectors."""
        return sorted({field for spaces in self.spaces.values() for field in spaces})

    def hidden_fields(self) -> list[str]:
        """What trifuse put into the documents, which no hit shows unasked: the vectors and their marks."""
        fields = self.vector_fields()
        return [MARKS, *fields] if fields else []

    def field_of(self, named: str | None) -> str:
        """The vector field that a search goes by: the one that its profile names, else the one served."""
        return named or self.serving or VECTOR_FIELD

    def is_exact(self, field: str) -> bool:
        """Whether the field's vectors have to be scored one by one: in any index none is built for them."""
        return any(field in self.spaces[index] for index in self.exact)

    def same_vectors(self, other: Target) -> bool:
        """Whether searches of both go by the same indices, fields and spaces."""
        return all(
            getattr(self, name) == getattr(other, name) for name in ("indices", "spaces", "serving", "exact")
        )

    def space_of(self, field: str) -> Space | None:
        """The space of a vector field in any of the indices."""
        return next((spaces[field] for spaces in self.spaces.values() if field in spaces), None)

    def lacks(self, field: str) -> list[str]:
        """The indices that have no such vector field."""
        return sorted(index for index, spaces in self.spaces.items() if field not in spaces)

    def template_fields(self, field: str) -> list[str]:
        """The fields whose text was embedded, in the template's order."""
        spaces = [each[field] for _, each in sorted(self.spaces.items()) if field in each]
        return list(dict.fromkeys(name for space in spaces for name in space.template.fields))

    def require_space(self, field: str, encoder: EncoderSpace) -> None:
        """Refuse to compare the encoder's vectors with those of another space.

        Raises:
            SpaceMismatch: naming the index.
        """
        for index, spaces in sorted(self.spaces.items()):
            if field in spaces:
                require_same_space(encoder, spaces[field].encoder, what=f"{field!r} of the index {index!r}")


def check_collapse(field: str | None, target: Target) -> None:
    """Refuse to collapse on a field that no index maps: all documents would be one group.

    Raises:
        BodyError: naming the field.
    """
    if field is not None and field not in target.fields:
        raise BodyError(f"can't collapse on {field!r}: {target.expression!r} has no such field")


def index_expression(index: str | Sequence[str]) -> str:
    """Names as they go into a URL.

    Raises:
        BodyError: a name whose filters can't be known: another cluster's, date math, an exclusion.
    """
    names = index.split(",") if isinstance(index, str) else list(index)
    for name in names or [""]:
        if not name or name[0] in "<-" or ":" in name:
            raise BodyError(
                f"can't search {name!r}: give names or patterns of indices and aliases of this cluster, "
                "without date math or exclusions"
            )
    return ",".join(names)


def read_target(expression: str, answer: Mapping[str, Any]) -> Target:
    """The target from the answer of `GET /{expression}`."""
    spaces: dict[str, Mapping[str, Space]] = {}
    fields: set[str] = set()
    text_fields: set[str] = set()
    plain_fields: set[str] = set()
    for index, about in answer.items():
        mapping = about.get("mappings") or {}
        spaces[index] = spaces_in_meta(mapping.get("_meta"))
        mapped = dict(_fields(mapping.get("properties") or {}))
        fields.update(mapped)
        text = {path for path, field in mapped.items() if _is_text(field, mapped)}
        text_fields |= text
        plain_fields |= {path for path, field in mapped.items() if "type" in field} - text
    filters = {index: _filter_of(expression, index, about) for index, about in answer.items()}
    metas = {index: (about.get("mappings") or {}).get("_meta") for index, about in answer.items()}
    parents = {index: origin["index"] for index, meta in metas.items() if (origin := origin_in(meta))}
    named = {index: name for index, meta in metas.items() if (name := sentences_in(meta))}
    return Target(
        expression,
        frozenset(answer),
        _across(filters),
        spaces,
        frozenset(fields),
        frozenset(text_fields),
        frozenset(plain_fields),
        _pipeline(answer.values()),
        _serving(metas),
        frozenset(index for index, about in answer.items() if spaces[index] and _is_exact(about)),
        {**named, **{index: index for index in parents}},
        parents,
    )


def _serving(metas: Mapping[str, Mapping[str, Any] | None]) -> str | None:
    """The field that all of the indices are served by.

    While several are being switched to another field, it is the older one that all of them have: that one is
    filled everywhere until the last is switched. Where they have none in common it is one of those served.
    """
    found = {index: field for index, meta in sorted(metas.items()) if (field := serving_field(meta))}
    served = list(dict.fromkeys(found.values()))
    if len(served) < 2:
        return served[0] if served else None
    fields = [list(spaces_in_meta(metas[index])) for index in found]
    common = [field for field in fields[0] if field in served and all(field in each for each in fields)]
    return common[0] if common else min(served)


def _is_exact(about: Mapping[str, Any]) -> bool:
    settings = about.get("settings")
    return settings is not None and str((settings.get("index") or {}).get("knn")).lower() != "true"


def _pipeline(indices: Iterable[Mapping[str, Any]]) -> str | None:
    """The default pipeline of those indices that have one; as in OpenSearch none where they differ.

    Beside one whose default is `_none` it is the server's order of indices that decides: here it counts.
    """
    settings = (((about.get("settings") or {}).get("index") or {}).get("search") or {} for about in indices)
    named = {each["default_pipeline"] for each in settings if "default_pipeline" in each}
    return named.pop() if len(named) == 1 and named != {"_none"} else None


def _fields(properties: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every field of a mapping by its path: objects' fields and multi-fields too."""
    for name, field in properties.items():
        yield prefix + name, field
        for children in ("properties", "fields"):
            yield from _fields(field.get(children) or {}, f"{prefix}{name}.")


def _is_text(field: Mapping[str, Any], mapped: Mapping[str, Mapping[str, Any]]) -> bool:
    if field.get("type") == "alias":
        field = mapped.get(field.get("path", ""), {})
    return field.get("type") in _TEXT_TYPES


def _filter_of(expression: str, index: str, about: Mapping[str, Any]) -> Clause | None:
    """The filter on one index: none where a name reaches it without one, else any of those that do."""
    names = expression.split(",")
    if any(_names(name, index) for name in names):
        return None
    aliases: Mapping[str, Any] = about.get("aliases") or {}
    reaching = [
        alias.get("filter")
        for title, alias in sorted(aliases.items())
        if any(_names(n, title) for n in names)
    ]
    filters = [each for each in reaching if each]
    if not filters or len(filters) < len(reaching):
        return None
    return filters[0] if len(filters) == 1 else {"bool": {"should": filters, "minimum_should_match": 1}}


def _names(name: str, title: str) -> bool:
    # Brackets are no pattern in an index expression.
    return name in ("_all", title) or fnmatchcase(title, name.replace("[", "[[]").replace("?", "[?]"))


def _across(filters: Mapping[str, Clause | None]) -> Clause | None:
    """One clause that holds each index to its own filter."""
    distinct = [each for n, each in enumerate(filters.values()) if each not in list(filters.values())[:n]]
    if not distinct:
        return None
    if len(distinct) == 1:
        return distinct[0]
    groups = []
    for each in distinct:
        members: Clause = {"terms": {"_index": sorted(index for index in filters if filters[index] == each)}}
        groups.append(members if each is None else {"bool": {"filter": [members, each]}})
    return {"bool": {"should": groups, "minimum_should_match": 1}}
