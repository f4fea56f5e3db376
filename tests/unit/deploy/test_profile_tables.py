"""What others stored is shown as text: no markup, nothing that steers a terminal."""

from __future__ import annotations

from rich.console import Console

from trifuse.deploy.cli.profile_tables import changes_table, history_table, profiles_table
from trifuse.ranker import Profile
from trifuse.ranker.profiles.versions import ProfileVersion

HOSTILE = "\x1b[31m[/x] \x9b2J"


def test_notes_and_evidence_of_others() -> None:
    version = ProfileVersion("mine", 1, HOSTILE, f"{HOSTILE}\nand more", {}, {HOSTILE: 0.5}, True, "i/mine@1")
    console = Console(width=200, record=True, force_terminal=False)
    with console.capture() as shown:
        console.print(history_table([version]))
        console.print(changes_table({"body." + HOSTILE: (HOSTILE, None)}, "mine@1", "mine"))
    assert not {"\x1b", "\x9b"} & set(shown.get())
    assert "[/x]" in shown.get()
    assert "and more" in shown.get()


def test_a_normalization_that_isnt_used_isnt_shown() -> None:
    fused = {
        "ranks": Profile(weights={"lexical": 0.3}, combination="rrf"),
        "sum": Profile(weights={"lexical": 0.3}),
    }
    console = Console(width=100)
    with console.capture() as shown:
        console.print(profiles_table(fused, {}))
    rows = [line for line in shown.get().splitlines() if "0.3" in line]
    assert ["rrf" in row for row in rows] == [True, False]
    assert ["min_max" in row for row in rows] == [False, True]
