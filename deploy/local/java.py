"""Find a Java that runs OpenSearch: 21 or newer, with the modules and the locales of a full one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trifuse.deploy.errors import JavaMissing

OLDEST = 21
MODULES = frozenset({"jdk.incubator.vector", "jdk.localedata"})
"""Vector arithmetic, and the locales that the analyzers check: small run-time images lack them."""
FOLDERS = (
    "/usr/lib/jvm",
    "/opt/java",
    "/usr/java",
    "~/.sdkman/candidates/java",
    "/Library/Java/JavaVirtualMachines",
)


@dataclass(frozen=True)
class Java:
    """An installed Java."""

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        """The program to run."""
        return self.home / "bin" / "java"


def find_java(environ: Mapping[str, str] | None = None, folders: tuple[str, ...] = FOLDERS) -> Java:
    """The first that will do of OPENSEARCH_JAVA_HOME, JAVA_HOME, the PATH, and where systems keep them.

    Raises:
        JavaMissing: there is none; names those that were found and why they won't do.
    """
    refused: dict[Path, str] = {}
    for home in _candidates(os.environ if environ is None else environ, folders):
        if home in refused:
            continue
        found = inspect(home)
        if isinstance(found, Java):
            return found
        refused[home] = found
    seen = "; ".join(f"{home} {why}" for home, why in refused.items()) or "no Java was found"
    raise JavaMissing(
        f"OpenSearch needs a full Java {OLDEST} or newer, and {seen}. Install one (Debian, Ubuntu:"
        f" `apt-get install openjdk-{OLDEST}-jre-headless`, or Temurin; macOS: `brew install temurin`), or"
        " name its folder in JAVA_HOME, or use an OpenSearch that runs elsewhere: OPENSEARCH_URL"
    )


def _candidates(environ: Mapping[str, str], folders: tuple[str, ...]) -> Iterator[Path]:
    """Homes that may hold a Java, in the order in which they are preferred."""
    for name in ("OPENSEARCH_JAVA_HOME", "JAVA_HOME"):
        if environ.get(name):
            yield Path(environ[name]).expanduser().resolve()
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for folder in folders:
        root = Path(folder).expanduser()
        if root.is_dir():
            for entry in sorted(root.iterdir(), reverse=True):
                home = entry / "Contents" / "Home"
                yield (home if home.is_dir() else entry).resolve()


def inspect(home: Path) -> Java | str:
    """The Java of this folder, or why it won't do, from the `release` file that every Java has."""
    try:
        text = (home / "release").read_text("utf-8")
    except OSError:
        return "has no `release` file"
    if not (home / "bin" / "java").exists():
        return "has no bin/java"
    facts = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    version = major_version(facts.get("JAVA_VERSION", "").strip('"'))
    if version < OLDEST:
        return f"is Java {version or 'of unknown version'}"
    missing = MODULES - set(facts.get("MODULES", "").strip('"').split())
    if missing:
        return f"is Java {version} without {', '.join(sorted(missing))}"
    return Java(home, version)


def major_version(version: str) -> int:
    """The feature release of a version, 0 where it has none.

    >>> major_version("25.0.3"), major_version("1.8.0_402"), major_version("21-ea"), major_version("")
    (25, 8, 21, 0)
    """
    digits = version.replace("-", ".").replace("_", ".").split(".")
    first = digits[1] if digits[0] == "1" and len(digits) > 1 else digits[0]
    return int(first) if first.isdigit() else 0
