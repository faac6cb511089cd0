"""Reading a body that may have any length, up to a bound."""

from __future__ import annotations

from typing import Any


async def read_at_most(stream: Any, limit: int, drain: int = 0) -> bytes:
    """The first bytes of a ``ReadableStream``, or of none, until ``limit`` is reached or passed.

    Of the rest, ``drain`` bytes are read and dropped and what follows is cancelled unread, so
    that a caller holds at most one chunk more than it asked for. Raises what the stream raises.
    """
    if not stream:  # JavaScript's null is false too
        return b""
    reader = stream.getReader()
    chunks: list[bytes] = []
    size = 0
    while size < limit:
        chunk = await reader.read()
        if chunk.done:
            break
        chunks.append(chunk.value.to_bytes())
        size += len(chunks[-1])
    else:
        await _drop(reader, drain)
    return b"".join(chunks)


async def _drop(reader: Any, most: int) -> None:
    while most > 0:
        chunk = await reader.read()
        if chunk.done:
            return
        most -= chunk.value.byteLength
    await reader.cancel()
