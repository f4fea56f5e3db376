"""The demonstration: a sample of fictional trials and clicks, taken the whole way from files to a ranking.

No trial, drug, sponsor or person in the sample exists: the ids start with `NCT990`, which the registry hasn't
given out, and every text was written for it. Only the diseases, and the many names that each has, are real.
"""

from __future__ import annotations
