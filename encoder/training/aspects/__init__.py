"""Query adapters that ask for one aspect of a text: population, intervention, outcome, comparator."""
