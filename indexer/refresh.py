"""Fewer refreshes during a load, and the owner's `refresh_interval` back afterwards, come what may.

A load sets `LOAD_INTERVAL`: documents still become searchable while it runs, but a segment is written every
half minute and not every second. Nobody else sets that odd value, so the setting itself says that a load set
it, and the owner's value is saved in the state index before it is changed: whatever kills the load, the next
load or `trifuse sync` finds the odd value and puts the saved one back (`restore_refresh`), and
`pending_restores` lists where that is still to do. Restoring while another load runs costs that load a little
speed, and nothing else; so nothing is locked.

An owner who has set -1 is left alone: that is faster still.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException

from trifuse.indexer.errors import ServerUnavailable
from trifuse.indexer.state import get_state, put_state

LOAD_INTERVAL = "30001ms"

_log = logging.getLogger(__name__)


class _Setting(msgspec.Struct, frozen=True):
    """The refresh interval of one index as set; None where OpenSearch's default holds."""

    index: str
    uuid: str
    interval: str | None


def _settings(client: OpenSearch, index: str) -> list[_Setting]:
    """Of each index that the name, alias or pattern stands for; none where there is no such index."""
    try:
        found: dict[str, Any] = client.indices.get_settings(
            index=index, name="index.uuid,index.refresh_interval", params={"expand_wildcards": "all"}
        )
    except NotFoundError:
        return []
    values = ((name, entry["settings"]["index"]) for name, entry in found.items())
    return [_Setting(name, value["uuid"], value.get("refresh_interval")) for name, value in values]


def _set(client: OpenSearch, index: str, interval: str | None) -> None:
    client.indices.put_settings(index=index, body={"index": {"refresh_interval": interval}})


def owners_refresh(client: OpenSearch, index: str) -> str | None:
    """The refresh interval that an index's owner has set, also while a load has another; None is the default.

    Args:
        index: a concrete index.
    """
    (setting,) = _settings(client, index)
    if setting.interval != LOAD_INTERVAL:
        return setting.interval
    return _saved(client, setting)


def _saved(client: OpenSearch, setting: _Setting) -> str | None:
    """What a load has saved; OpenSearch's default where somebody deleted the state index."""
    kept = get_state(client, "refresh", setting.uuid) or {"interval": None}
    interval: str | None = kept["interval"]
    return interval


def save_refresh(client: OpenSearch, index: str) -> None:
    """Save the owner's refresh interval, then set the load's."""
    for setting in _settings(client, index):
        if setting.interval in (LOAD_INTERVAL, "-1"):
            continue
        put_state(client, "refresh", setting.uuid, {"interval": setting.interval}, index=setting.index)
        _set(client, setting.index, LOAD_INTERVAL)


def restore_refresh(client: OpenSearch, index: str) -> dict[str, str | None]:
    """Put the owner's refresh interval back where a load's is still set; what was restored, by index.

    What was saved stays: the next `save_refresh` replaces it. Where nothing is saved (somebody deleted the
    state index) OpenSearch's default is set: None.
    """
    restored: dict[str, str | None] = {}
    for setting in _settings(client, index):
        if setting.interval != LOAD_INTERVAL:
            continue
        saved = _saved(client, setting)
        try:
            _set(client, setting.index, saved)
        except NotFoundError:
            continue  # deleted meanwhile
        restored[setting.index] = saved
    return restored


def pending_restores(client: OpenSearch, index: str = "*") -> dict[str, str | None]:
    """The owner's refresh interval, by index, where a load runs or was killed; None is the default."""
    return {
        setting.index: _saved(client, setting)
        for setting in _settings(client, index)
        if setting.interval == LOAD_INTERVAL
    }


@contextmanager
def rare_refreshes(client: OpenSearch, index: str) -> Iterator[None]:
    """The load's refresh interval within, the owner's afterwards, also after an exception or Ctrl-C."""
    try:
        save_refresh(client, index)
        yield
    finally:
        try:
            restore_refresh(client, index)
        except (OpenSearchException, ServerUnavailable) as error:
            # What ended the load is the better error; the state is kept for the next load or sync.
            _log.warning("refresh_interval of %s not restored yet, `trifuse sync` will: %s", index, error)
