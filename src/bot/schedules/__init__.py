"""Stored schedules: when they are due, and what happens then."""
