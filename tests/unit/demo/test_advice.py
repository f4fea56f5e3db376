"""What to try next."""

from __future__ import annotations

from trifuse.deploy.demo.advice import next_commands


def test_the_sample_has_more_queries() -> None:
    assert next_commands(["demo", "demo-trifuse-sentences"], "kidney failure", sample=True) == [
        "trifuse search demo 'kidney failure' --explain",
        "trifuse search demo-trifuse-sentences 'kidney failure'",
        "trifuse search demo 'high blood sugar'",
        "trifuse status",
        "trifuse down",
    ]


def test_of_ones_own_files_only_the_query_is_known() -> None:
    assert next_commands(["mine"], "asthma", sample=False) == [
        "trifuse search mine asthma --explain",
        "trifuse status",
        "trifuse down",
    ]
