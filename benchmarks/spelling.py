"""Wrong spellings of a query, as fingers make them."""

from __future__ import annotations

import numpy as np


def misspelled(text: str, rng: np.random.Generator) -> str:
    """The text with one mistake in one of its longer words.

    Two letters change places, one is missing, one stands twice, or an `s` too many at the end. A text without
    a word of four letters or more gets the `s`.
    """
    words = text.split()
    long = [place for place, word in enumerate(words) if len(word) >= 4]
    if not long:
        return f"{text}s"
    place = long[rng.integers(len(long))]
    word = words[place]
    at = int(rng.integers(1, len(word) - 1))
    typed = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        f"{word}s",
    )[rng.integers(4)]
    words[place] = typed if typed != word else f"{word}s"  # two equal letters changed places
    return " ".join(words)
