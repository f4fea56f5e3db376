"""What `status` says of services that don't answer."""

from __future__ import annotations

from pathlib import Path

from trifuse.deploy.config import Settings
from trifuse.deploy.local.ports import free_port
from trifuse.deploy.local.processes import Process
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.state import State
from trifuse.deploy.local.status import status_of
from trifuse.encoder import DEFAULT_ENCODER


def test_what_doesnt_answer_is_a_problem_in_a_sentence() -> None:
    opensearch, redis = f"http://127.0.0.1:{free_port()}", f"redis://127.0.0.1:{free_port()}/0"
    ended = Service("Redis", redis, Process(1, ""), (Path("/logs/redis.log"),))
    state = State(opensearch, redis, redis, DEFAULT_ENCODER, (ended,))

    status = status_of(Settings(opensearch, redis, redis, DEFAULT_ENCODER), state)

    ended_problem, redis_problem, opensearch_problem = status.problems
    assert ended_problem == "Redis (process 1) ended: `trifuse up` starts it again; its log: /logs/redis.log"
    assert redis_problem.startswith(f"Redis doesn't answer at {redis}: ")
    assert opensearch_problem == f"OpenSearch doesn't answer at {opensearch}"
    assert (status.workers, status.provider, status.indexes) == (0, "", {})
    assert [service.running for service in status.services] == [False]


def test_no_redis_is_no_problem() -> None:
    opensearch = f"http://127.0.0.1:{free_port()}"

    status = status_of(Settings(opensearch, None, None, DEFAULT_ENCODER), None)

    assert status.problems == (f"OpenSearch doesn't answer at {opensearch}",)
