"""A broker that may throw messages away."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from redis import Redis


def test_c3_a_broker_that_evicts_is_refused_at_start_and_by_sync(own_services: Any, tmp_path: Path) -> None:
    environ = os.environ | own_services.environ()
    run = partial(subprocess.run, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environ)
    with Redis.from_url(own_services.broker_url) as redis:
        redis.config_set("maxmemory-policy", "allkeys-lru")
        try:
            worker = run([sys.executable, "-m", "celery", "-A", "trifuse.worker.app", "worker", "-c", "1"])
            command = run([Path(sys.executable).with_name("trifuse"), "sync", "trials"])
        finally:
            redis.config_set("maxmemory-policy", "noeviction")
    for done in (worker, command):
        assert done.returncode == 1
        assert "maxmemory-policy is 'allkeys-lru', expected 'noeviction'" in " ".join(done.stderr.split())
