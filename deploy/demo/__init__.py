"""The demonstration: a sample of fictional trials and clicks, taken the whole way from files to a ranking.

No trial, drug, sponsor or person in the sample exists: the ids start with `NCT99`, which the registry hasn't
given out, and every text was written for it. Diseases and their synonyms are real, because they are the point.
"""

from __future__ import annotations
