"""The note of what runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from trifuse.deploy.errors import LocalServiceError
from trifuse.deploy.local.processes import Process
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.state import State, clear_state, exclusive, load_state, save_state

REDIS = Service("Redis", "redis://127.0.0.1:1/0", Process(7, "99"), (Path("/logs/redis.log"),))
STATE = State("http://user:secret@here:9200", REDIS.url, REDIS.url, "bge", (REDIS,))


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save_state(tmp_path, STATE)

    assert load_state(tmp_path) == STATE


def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    save_state(tmp_path, STATE)

    assert (tmp_path / "state.json").stat().st_mode & 0o777 == 0o600


def test_none_where_nothing_was_left_running(tmp_path: Path) -> None:
    assert load_state(tmp_path) is None
    clear_state(tmp_path)
    save_state(tmp_path, STATE)
    clear_state(tmp_path)
    assert load_state(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", '{"opensearch_url": 3}', "[]"])
def test_a_note_that_cant_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)

    with pytest.raises(LocalServiceError, match=r"state\.json.*delete the file"):
        load_state(tmp_path)


def test_one_at_a_time(tmp_path: Path) -> None:
    entered = threading.Event()

    def second() -> None:
        with exclusive(tmp_path):
            entered.set()

    waiting = threading.Thread(target=second)
    with exclusive(tmp_path):
        waiting.start()
        assert not entered.wait(0.2)
    assert entered.wait(10)
    waiting.join()
