"""Profiles, their versions, and how two differ, as tables for people. Pure: nothing is printed here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from trifuse.ranker import Profile
from trifuse.ranker.clicks.settings import SEGMENTS
from trifuse.ranker.evaluation.printing import as_typed
from trifuse.ranker.fusion.registry import OF_THEIR_OWN
from trifuse.ranker.profiles.versions import ProfileVersion
from trifuse.ranker.types import LEGS


def profiles_table(profiles: Mapping[str, Profile], versions: Mapping[str, int]) -> Table:
    """A row a profile.

    Args:
        versions: of those that are stored, the current one.
    """
    table = Table(
        caption="NAME@VERSION: stored in the cluster, and which version is current; weight and "
        "normalization, or the combination that brings its own (clicks: HEAD/TORSO/TAIL where they "
        "differ); m: past queries"
    )
    table.add_column("profile", no_wrap=True)
    for leg in LEGS:
        table.add_column(leg)
    table.add_column("depth", justify="right")
    table.add_column("m", justify="right")
    for name, profile in profiles.items():
        weights = (_weight(profile, leg) for leg in LEGS)
        past = str(profile.clicks.m) if profile.weights["clicks"] > 0 else "-"
        shown = f"{name}@{versions[name]}" if name in versions else name
        table.add_row(as_typed(shown), *weights, str(profile.depth), past)
    return table


def history_table(versions: Sequence[ProfileVersion]) -> Table:
    """A row a version, the newest first."""
    table = Table(caption="* is current")
    table.add_column("version", justify="right", no_wrap=True)
    table.add_column("stored", no_wrap=True)
    table.add_column("measured")
    table.add_column("note")
    for each in versions:
        mark = "*" if each.current else ""
        measured = Text("\n").join(as_typed(number) for number in _numbers(each.evidence or {}))
        note = Text("\n").join(as_typed(line) for line in each.note.splitlines())
        table.add_row(f"{mark}{each.version}", as_typed(each.at), measured, note)
    return table


def changes_table(changed: Mapping[str, tuple[Any, Any]], one: str, other: str) -> Table:
    """A row a setting that differs."""
    table = Table()
    for title in ("setting", one, other):
        table.add_column(as_typed(title))
    for setting, (before, after) in changed.items():
        table.add_row(as_typed(setting), _shown(before), _shown(after))
    return table


def _weight(profile: Profile, leg: str) -> str:
    if profile.weights[leg] == 0:
        return "-"
    weights = [profile.weights_in(segment)[leg] for segment in SEGMENTS]
    shown = "/".join(f"{weight:g}" for weight in (weights if len(set(weights)) > 1 else weights[:1]))
    alone = profile.combination in OF_THEIR_OWN
    return f"{shown} {profile.combination if alone else profile.normalization_of(leg)}"


def _numbers(evidence: Mapping[str, Any]) -> Iterable[str]:
    """What of the evidence is a number by itself; the rest is in the JSON."""
    for name, value in evidence.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{name} {value:.4g}"


def _shown(value: Any) -> Text:
    return as_typed("-" if value is None else json.dumps(value, ensure_ascii=False))
