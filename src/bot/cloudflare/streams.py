"""Reading a body that may have any length, up to a bound."""

from __future__ import annotations

from typing import Any


async def read_at_most(stream: Any, limit: int) -> bytes:
    """The first bytes of a ``ReadableStream``, or of none, until ``limit`` is reached or passed.

    The rest is cancelled unread, so that a caller holds at most one chunk more than it asked
    for. Raises what the stream raises.
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
        await reader.cancel()
    return b"".join(chunks)
