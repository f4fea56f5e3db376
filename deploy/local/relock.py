"""Write the lock again after a change of `distribution`: `python -m trifuse.deploy.local.relock`.

For maintainers: resolves the parts and their runtime dependencies, downloads every file, and pins its hash.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trifuse.deploy.local.distribution import LIB, LOCK, MODULES, PLUGINS
from trifuse.deploy.local.lock import LockedFile, format_lock
from trifuse.encoder.fetch import sha256_of

NATIVE = "netty-codec-native-quic"
"""HTTP/3's native code, one jar a platform: not needed, and not the same everywhere."""


def _artifact(context: Any, coordinate: str, packaging: str = "jar") -> Any:
    group, name, version = coordinate.split(":")
    return context.project(group, name).at_version(version).artifact(packaging=packaging)


def _closure(context: Any, coordinates: Iterable[str]) -> list[Any]:
    """The artifacts themselves and their runtime dependencies, without native code.

    Each is resolved on its own: together, the versions that one manages would change another's.
    """
    from jgo.maven import Dependency

    found: dict[tuple[str, str], Any] = {}
    for root in [_artifact(context, coordinate) for coordinate in coordinates]:
        _, dependencies = context.resolver.resolve([Dependency(root)])
        for artifact in [root, *(dependency.artifact for dependency in dependencies)]:
            if not (artifact.artifactId == NATIVE and artifact.classifier):
                found.setdefault((artifact.groupId, artifact.artifactId), artifact)
    return list(found.values())


def _locked(artifact: Any, folder: str) -> LockedFile:
    coordinate = f"{artifact.groupId}:{artifact.artifactId}:{artifact.version}"
    return LockedFile(f"{folder}/{artifact.filename}", coordinate, sha256_of(artifact.resolve()))


def resolve_distribution(context: Any) -> list[LockedFile]:
    """Every file of the distribution; a module holds only what `lib/` lacks."""
    lib = _closure(context, LIB)
    files = [_locked(artifact, "lib") for artifact in lib]
    in_lib = {(artifact.groupId, artifact.artifactId) for artifact in lib}
    for module in MODULES:
        own = [a for a in _closure(context, [module.coordinate]) if (a.groupId, a.artifactId) not in in_lib]
        files += [_locked(artifact, f"modules/{module.name}") for artifact in own]
    files += [_locked(_artifact(context, plugin, "zip"), "plugins") for plugin in PLUGINS]
    return files


def main() -> None:
    """Write the lock beside this file."""
    from jgo.maven import MavenContext

    target = Path(__file__).with_name(LOCK)
    target.write_text(format_lock(resolve_distribution(MavenContext(timeout=60))), "utf-8")
    sys.stderr.write(f"wrote {target}\n")


if __name__ == "__main__":
    main()
