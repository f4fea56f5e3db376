"""Past queries merge to the same document in any order."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from trifuse.worker.clicks.past import PastQuery


def past(text: str, frequency: int, last_seen: int) -> PastQuery:
    return PastQuery(id="i", text=text, normalized=text.lower(), frequency=frequency, last_seen=last_seen)


def test_the_later_of_both_in_everything() -> None:
    merged = past("Asthma", 3, 50).merged(past("asthma", 2, 90).source())
    assert (merged.text, merged.frequency, merged.last_seen) == ("asthma", 3, 90)
    assert past("asthma", 2, 90).merged(past("ASTHMA", 3, 50).source()).text == "asthma"


@given(
    st.lists(
        st.builds(
            past, st.sampled_from(["asthma", "Asthma", "ASTHMA"]), st.integers(1, 9), st.integers(0, 99)
        ),
        min_size=1,
        max_size=6,
    ).flatmap(lambda items: st.tuples(st.just(items), st.permutations(items + items[:2])))
)
def test_any_order_and_repetition_ends_in_the_same(orders: tuple[list[PastQuery], list[PastQuery]]) -> None:
    one, other = (reduce(lambda stored, query: query.merged(stored.source()), order) for order in orders)
    assert one.source() | {"normalized": ""} == other.source() | {"normalized": ""}
