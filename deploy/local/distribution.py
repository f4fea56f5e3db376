"""What a local OpenSearch is made of: the parts of its distribution, by their published coordinates.

The server is published as a library with its modules and plugins beside it; a home folder is laid out from
them as the distribution does it. `relock` turns this list into the pinned files of `opensearch-*.sha256`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

VERSION = "3.6.0"
LOCK = f"opensearch-{VERSION}.sha256"

LIB = (
    f"org.opensearch:opensearch:{VERSION}",
    f"org.opensearch:opensearch-agent-bootstrap:{VERSION}",
    f"org.opensearch:opensearch-plugin-classloader:{VERSION}",
    "org.apache.logging.log4j:log4j-core:2.25.3",
)
"""The roots of `lib/`; their runtime dependencies come with them."""


@dataclass(frozen=True)
class Module:
    """A part of the server in `modules/NAME/`, whose descriptor isn't published with it."""

    name: str
    artifact: str
    classname: str
    extends: str = ""

    @property
    def coordinate(self) -> str:
        """Where it is published."""
        return f"org.opensearch.plugin:{self.artifact}:{VERSION}"

    def descriptor(self) -> str:
        """The text of its `plugin-descriptor.properties`."""
        lines = [
            f"description={self.name}",
            f"version={VERSION}",
            f"name={self.name}",
            f"classname={self.classname}",
            "java.version=21",
            f"opensearch.version={VERSION}",
            "has.native.controller=false",
        ]
        if self.extends:
            lines.append(f"extended.plugins={self.extends}")
        return "\n".join(lines) + "\n"


PAINLESS = "lang-painless"
MODULES: Sequence[Module] = (
    Module(PAINLESS, "lang-painless", "org.opensearch.painless.PainlessModulePlugin"),
    Module(
        "analysis-common",
        "analysis-common",
        "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
        PAINLESS,
    ),
    Module("transport-netty4", "transport-netty4-client", "org.opensearch.transport.Netty4ModulePlugin"),
    Module("transport-grpc", "transport-grpc", "org.opensearch.transport.grpc.GrpcPlugin"),
    Module("reindex", "reindex-client", "org.opensearch.index.reindex.ReindexModulePlugin"),
    Module("mapper-extras", "mapper-extras-client", "org.opensearch.index.mapper.MapperExtrasModulePlugin"),
    Module("lang-mustache", "lang-mustache-client", "org.opensearch.script.mustache.MustacheModulePlugin"),
    Module("parent-join", "parent-join-client", "org.opensearch.join.ParentJoinModulePlugin"),
    Module(
        "search-pipeline-common",
        "search-pipeline-common",
        "org.opensearch.search.pipeline.common.SearchPipelineCommonModulePlugin",
        PAINLESS,
    ),
    Module(
        "ingest-common", "ingest-common", "org.opensearch.ingest.common.IngestCommonModulePlugin", PAINLESS
    ),
)

PLUGINS = (
    f"org.opensearch.plugin:opensearch-knn:{VERSION}.0",
    f"org.opensearch.plugin:neural-search:{VERSION}.0",
)
"""Published as zips that hold their own descriptors."""
