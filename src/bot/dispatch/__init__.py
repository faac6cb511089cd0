"""Dispatch: the one way in for every turn, and the rule of what it may do."""
