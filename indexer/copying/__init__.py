"""A copy of an index beside it: filled, kept in step, checked, and switched to; and back."""
