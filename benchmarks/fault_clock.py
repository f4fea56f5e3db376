"""A wall clock that jumps, for workers and commands: what Python reads of it, shifted by what a file says.

Shifted are `time.time`, `time.time_ns`, and `datetime.now`, `utcnow` and `today`; `time.monotonic` isn't, as
it isn't on a machine whose clock is set. The interpreter runs it at its start, as `sitecustomize`.
"""

from __future__ import annotations

from pathlib import Path

CLOCK_FILE = "FAULTS_CLOCK"
"""The variable that names the file with the seconds."""

_SITE = """\
import datetime
import os
import time

_real, _path, _read = time.time, os.environ.get("FAULTS_CLOCK"), [0.0, 0.0]


def _shift():
    if time.monotonic() - _read[0] > 0.1:
        try:
            with open(_path) as file:
                _read[1] = float(file.read() or 0)
        except (OSError, ValueError):
            pass
        _read[0] = time.monotonic()
    return _read[1]


class _Meta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _datetime)


_datetime = datetime.datetime


class datetime_(_datetime, metaclass=_Meta):
    @classmethod
    def now(cls, tz=None):
        return _datetime.now(tz) + datetime.timedelta(seconds=_shift())

    @classmethod
    def utcnow(cls):
        return _datetime.utcnow() + datetime.timedelta(seconds=_shift())

    @classmethod
    def today(cls):
        return _datetime.today() + datetime.timedelta(seconds=_shift())


if _path:
    datetime_.__name__ = datetime_.__qualname__ = "datetime"
    datetime_.__module__ = "datetime"
    time.time = lambda: _real() + _shift()
    time.time_ns = lambda: int(time.time() * 1e9)
    datetime.datetime = datetime_
"""


def clock_folder(folder: Path) -> Path:
    """A folder for PYTHONPATH; made if it isn't there."""
    made = folder / "clock-site"
    site = made / "sitecustomize.py"
    if not site.exists():
        made.mkdir(parents=True, exist_ok=True)
        site.write_text(_SITE, "utf-8")
    return made


def set_clock(path: Path, shift_s: float) -> None:
    """Move the clock to so many seconds after the true time."""
    part = path.with_suffix(".part")
    part.write_text(str(shift_s), "ascii")
    part.replace(path)
