"""The Worker's own entrypoint, alone."""

from bot.worker import Default

__all__ = ["Default"]
