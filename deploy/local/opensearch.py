"""A single OpenSearch node on this machine, with k-NN and neural-search."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from trifuse.deploy.local.java import find_java
from trifuse.deploy.local.places import WATERMARKS
from trifuse.deploy.local.ports import HOST, free_port
from trifuse.deploy.local.processes import start
from trifuse.deploy.local.services import Service, wait_until_ready
from trifuse.deploy.local.users import own, require_reachable, service_user

NAME = "OpenSearch"
BOOT_S = 240.0
HEAP = "1g"
CLUSTER = "trifuse"
LOG_FILE = f"{CLUSTER}.log"

LOG4J = """\
property.log = ${sys:opensearch.logs.base_path}/${sys:opensearch.logs.cluster_name}
status = error
appender.rolling.type = RollingFile
appender.rolling.name = rolling
appender.rolling.fileName = ${log}.log
appender.rolling.filePattern = ${log}-%i.log
appender.rolling.layout.type = PatternLayout
appender.rolling.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%n
appender.rolling.policies.type = Policies
appender.rolling.policies.size.type = SizeBasedTriggeringPolicy
appender.rolling.policies.size.size = 20MB
appender.rolling.strategy.type = DefaultRolloverStrategy
appender.rolling.strategy.max = 3
rootLogger.level = info
rootLogger.appenderRef.rolling.ref = rolling
"""


def node_settings(folder: Path, port: int, transport_port: int) -> dict[str, Any]:
    """The `opensearch.yml` of a node that keeps everything in `folder` and talks to this machine only."""
    settings: dict[str, Any] = {
        "cluster.name": CLUSTER,
        "node.name": "local",
        "discovery.type": "single-node",
        "network.host": HOST,
        "http.port": port,
        "transport.port": transport_port,
        "path.data": str(folder / "data"),
        "path.logs": str(folder / "logs"),
    }
    for mark, free_bytes in WATERMARKS.items():
        settings[f"cluster.routing.allocation.disk.watermark.{mark}"] = f"{free_bytes}b"
    return settings


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings as YAML: a JSON value is one."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())


def server_command(java: Path, home: Path, folder: Path, heap: str) -> list[str]:
    """The command line of a node, as the distribution's own script would run it."""
    return [
        str(java),
        f"-Xms{heap}",
        f"-Xmx{heap}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dopensearch.path.home={home}",
        f"-Dopensearch.path.conf={folder / 'config'}",
        "-Dopensearch.distribution.type=tar",
        "-Dopensearch.bundled_jdk=false",
        "-Dlog4j2.disable.jmx=true",
        "-Dfile.encoding=UTF-8",
        "-Djava.awt.headless=true",
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={folder / 'logs' / 'hs_err_pid%p.log'}",
        "--add-modules=jdk.incubator.vector",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        f"{home}/lib/*",
        "org.opensearch.bootstrap.OpenSearch",
    ]


def start_opensearch(
    home: Path,
    folder: Path,
    *,
    port: int,
    heap: str = HEAP,
    settings: Mapping[str, Any] | None = None,
    timeout_s: float = BOOT_S,
) -> Service:
    """Start a node that keeps its data, logs and settings in `folder`, and wait until it answers.

    Args:
        home: what `opensearch_home` made.
        heap: of the Java machine, as `512m` or `1g`.
        settings: further ones of `opensearch.yml`.

    Raises:
        JavaMissing, FolderUnreachable, ServiceDied.
    """
    java = find_java()
    user = service_user()
    elsewhere = "choose another data folder with --data or TRIFUSE_HOME, such as /var/lib/trifuse"
    require_reachable(folder, user, remedy=elsewhere)
    require_reachable(home / "lib", user, remedy=elsewhere)
    require_reachable(java.executable, user, remedy="install Java for all users")
    for name in ("config", "data", "logs", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    chosen = node_settings(folder, port, free_port()) | dict(settings or {})
    (folder / "config" / "opensearch.yml").write_text(settings_text(chosen), "utf-8")
    (folder / "config" / "log4j2.properties").write_text(LOG4J, "utf-8")
    own(folder, user)
    output = folder / "logs" / "output.log"
    log = folder / "logs" / LOG_FILE
    output.unlink(missing_ok=True)
    log.unlink(missing_ok=True)
    process = start(
        server_command(java.executable, home, folder, heap),
        log=output,
        environ=_environment(java.home),
        folder=folder,
        uid=user.uid if user else None,
        gid=user.gid if user else None,
    )
    service = Service(NAME, f"http://{HOST}:{port}", process, (output, log))
    return wait_until_ready(
        service,
        # Another server may have taken the port since it was found free: ours then ends, and says so.
        lambda: complaint(service.url) is None and answering_pid(service.url) == process.pid,
        timeout_s=timeout_s,
    )


def complaint(url: str) -> str | None:
    """Why the cluster at this URL can't be used; None where its indexes are open and it answers."""
    try:
        reply = httpx.get(
            f"{url.rstrip('/')}/_cluster/health", params={"wait_for_status": "yellow", "timeout": "1s"}
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return str(error) or type(error).__name__
    if reply.status_code == httpx.codes.REQUEST_TIMEOUT:  # it answers so where the status isn't reached
        return "its cluster is red: GET _cluster/allocation/explain says which shard is missing, and why"
    return None if reply.is_success else f"HTTP {reply.status_code} {reply.reason_phrase}"


def answering_pid(url: str) -> int | None:
    """The id of the process that answers at this URL, as it says itself; None where none tells."""
    try:
        nodes = httpx.get(f"{url.rstrip('/')}/_nodes/_local/process").json()["nodes"]
        return next((int(node["process"]["id"]) for node in nodes.values()), None)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, AttributeError):
        return None


def _environment(java_home: Path) -> dict[str, str]:
    """The few variables that the server needs: nothing else of ours is handed to it."""
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TZ", "PATH") if name in os.environ}
    return kept | {"JAVA_HOME": str(java_home)}
