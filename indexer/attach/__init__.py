"""Join an index that exists: look first, then add vectors, or say what stands in the way."""
