"""Outcomes of trials, predicted from their vectors by one linear layer."""
