"""Entities of medical texts, their names and their kin: what negatives and positives of texts are made by."""
