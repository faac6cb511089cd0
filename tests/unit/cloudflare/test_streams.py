"""Reading a stream no further than asked, over one that is written down."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bot.cloudflare.streams import read_at_most
from tests.support.drive import run


class Chunk(bytes):
    byteLength = property(len)  # noqa: N815 - JavaScript's name

    def to_bytes(self):
        return bytes(self)


class Stream:
    """A ``ReadableStream`` of ``chunks`` chunks of ten bytes, and its reader."""

    def __init__(self, chunks):
        self.left = chunks
        self.cancelled = False

    def getReader(self):  # noqa: N802 - JavaScript's name
        return self

    async def read(self):
        if self.left == 0:
            return SimpleNamespace(done=True)
        self.left -= 1
        return SimpleNamespace(done=False, value=Chunk(b"x" * 10))

    async def cancel(self):
        self.cancelled = True


def test_no_stream_is_no_bytes():
    assert run(read_at_most(None, 10)) == b""


@pytest.mark.parametrize("limit", [31, 100])
def test_a_short_stream_is_read_whole(limit):
    stream = Stream(3)
    assert run(read_at_most(stream, limit, 50)) == b"x" * 30
    assert not stream.cancelled


def test_a_long_one_is_cut_and_the_rest_is_not_read():
    stream = Stream(100)
    assert run(read_at_most(stream, 25)) == b"x" * 30
    assert (stream.left, stream.cancelled) == (97, True)


def test_what_is_drained_is_read_and_not_kept():
    stream = Stream(10)
    assert run(read_at_most(stream, 25, 1000)) == b"x" * 30
    assert (stream.left, stream.cancelled) == (0, False)


def test_draining_ends_too():
    stream = Stream(100)
    assert run(read_at_most(stream, 25, 40)) == b"x" * 30
    assert (stream.left, stream.cancelled) == (93, True)
