"""A picture of a vector space: vectors in two dimensions, their clusters, and a page to look at them."""
