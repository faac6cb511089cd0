"""The surface of ``/ingress``: its caller reads the run, so nothing is posted anywhere."""

from __future__ import annotations

from bot.ports import NotOpened, Posted
from bot.words import Delivery


class HttpChannel:
    """``http``: names no channel that a schedule could speak in, and opens no thread."""

    surface = "http"

    def exists(self, channel: str) -> bool:
        """Never: the threads of ``/ingress`` are its callers' own."""
        return False

    async def can_open_threads(self, channel: str) -> NotOpened:
        """Never."""
        return NotOpened("the http surface opens no threads", gone=False)

    async def open_thread(self, channel: str, lead: str, *, key: str, now_ms: int) -> NotOpened:
        """Always refused."""
        return NotOpened("the http surface opens no threads")

    async def post(self, thread: str, text: str, *, key: str, now_ms: int) -> Posted:
        """Delivered: the ledger holds the output, and the caller asks it."""
        return Posted(Delivery.DELIVERED)
