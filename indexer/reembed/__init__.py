"""Another encoder for an index that has vectors: beside the present ones, until the switch."""
