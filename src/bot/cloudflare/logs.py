"""Log records as lines of the Worker's console, where the platform's logs take them from."""

from __future__ import annotations

import logging
import sys


def log_to_console() -> None:
    """Write every record from INFO on: level, logger, the record's ``action``, the message."""
    line = "%(levelname)s %(name)s %(action)s: %(message)s"
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter(line, defaults={"action": "-"}))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
