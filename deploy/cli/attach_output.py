"""What `trifuse attach` shows: what was looked at, what will be done."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from trifuse.deploy.cli.common import out
from trifuse.indexer.attach import AttachPlan
from trifuse.indexer.sentences import SentenceEstimate

_COLOURS = {"ok": "green", "note": "yellow", "refused": "red"}
_MODES = {
    "in_place": "in place: the mapping gets a vector field, each document its vector",
    "exact": "in place, without k-NN: searches compute scores one by one",
    "copy": "into a copy with k-NN, which the alias {alias} is moved to when it is complete and checked",
}


def show_plan(plan: AttachPlan, split: SentenceEstimate | None = None) -> None:
    """The plan as a table, and how it will be done; nothing where it is refused."""
    table = Table("", "what", "found", "what to do", box=None, pad_edge=False)
    for item in plan.findings:
        level = f"[{_COLOURS[item.level]}]{item.level}[/]"
        table.add_row(level, item.subject, escape(item.text), escape(item.remedy))
    if split is not None:
        text = f"about {split.sentences:,} of {split.documents:,} documents, each with a vector of its own"
        table.add_row(f"[{_COLOURS['ok']}]ok[/]", "sentences", text, "")
    out.print(table)
    if plan.refused:
        return  # the command ends with what to do
    if plan.attached:
        out.print(f"{plan.name} is attached to already", markup=False)
    else:
        how = _MODES[plan.mode].format(alias=plan.alias)
        out.print(f"{plan.name} can be attached to, {how}", markup=False, soft_wrap=True)
