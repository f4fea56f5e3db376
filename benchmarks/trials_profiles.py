"""The profiles that are compared on trials: those of the first day, and those tuned on TREC 2021."""

from __future__ import annotations

import json
from pathlib import Path

from trials_bodies import PLAIN

from trifuse.ranker import Profile

FILE = Path(__file__).with_name("trials_profiles.json")
"""`tuned`, and the server's best of its own 66 settings over the same body and over the plain one.

`trials_tune.py --save` writes it.
"""

BM25 = Profile(name="bm25", weights={"lexical": 1.0}, body=PLAIN)
DENSE = Profile(name="dense", weights={"dense": 1.0})
HYBRID = Profile(name="hybrid", weights={"lexical": 0.5, "dense": 0.5}, body=PLAIN)

AGAINST = {
    "dense": "bm25",
    "hybrid": "bm25",
    "tuned": "hybrid",
    "server": "tuned",
    "server, plain body": "tuned",
}
"""What each is compared with."""


def compared_profiles(file: Path = FILE) -> dict[str, Profile]:
    """What one has on the first day, and what was tuned."""
    tuned = {name: Profile.from_dict(value) for name, value in json.loads(file.read_text()).items()}
    return {"bm25": BM25, "dense": DENSE, "hybrid": HYBRID, **tuned}
