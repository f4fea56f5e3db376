"""A picture of a vector space: vectors in two dimensions, their clusters, and a page to look at them."""

from __future__ import annotations

from trifuse.deploy.map.drawing import VectorMap, draw
from trifuse.deploy.map.page import write_page
from trifuse.deploy.map.picture import write_picture
from trifuse.deploy.map.reading import Documents, read_documents

__all__ = ["Documents", "VectorMap", "draw", "read_documents", "write_page", "write_picture"]
