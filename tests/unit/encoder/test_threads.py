"""Work that is done meanwhile, in threads; what becomes of them is told in test_lookups.py."""

from __future__ import annotations

import threading

import pytest

from trifuse.encoder.threads import Threads


def test_work_is_done_meanwhile_in_a_thread_of_the_pool() -> None:
    threads, go = Threads(2, "ahead"), threading.Event()

    def work() -> str:
        assert go.wait(10)
        return threading.current_thread().name

    result = threads.ahead(work)
    go.set()
    assert result().startswith("ahead")
    threads.close()


def test_what_the_work_raises_is_raised_where_the_result_is_wanted() -> None:
    threads = Threads(1, "ahead")

    def fail() -> None:
        raise ValueError("no such text")

    result = threads.ahead(fail)
    with pytest.raises(ValueError, match="no such text"):
        result()
    threads.close()


def test_where_no_thread_can_be_started_it_is_done_when_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    result = Threads(1, "ahead").ahead(threading.current_thread)
    assert result() is threading.current_thread()


def test_work_after_the_end_starts_new_threads() -> None:
    threads = Threads(1, "ahead")
    assert threads.ahead(lambda: 1)() == 1
    threads.close()
    threads.close()
    assert threads.ahead(lambda: 2)() == 2
    threads.close()
