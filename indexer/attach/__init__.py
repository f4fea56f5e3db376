"""Join an index that exists: look first, then add vectors, or say what stands in the way."""

from __future__ import annotations

from trifuse.indexer.attach.apply import apply_attach
from trifuse.indexer.attach.detach import DetachReport, detach
from trifuse.indexer.attach.plan import AttachPlan, Finding
from trifuse.indexer.attach.planning import plan_attach

__all__ = ["AttachPlan", "DetachReport", "Finding", "apply_attach", "detach", "plan_attach"]
