from __future__ import annotations

from bot.channels.http import HttpChannel
from bot.ports import NotOpened, Posted
from bot.words import Delivery
from tests.support.drive import run


def test_http_has_no_channel_that_a_schedule_could_speak_in() -> None:
    http = HttpChannel()
    assert not http.exists("http:ci")
    assert isinstance(run(http.can_open_threads("http:ci")), NotOpened)
    opened = run(http.open_thread("http:ci", "lead", key="k", now_ms=1))
    assert isinstance(opened, NotOpened)


def test_its_caller_reads_the_run_so_a_post_is_delivered() -> None:
    posted = run(HttpChannel().post("http:ci/x", "text", key="k", now_ms=1))
    assert posted == Posted(Delivery.DELIVERED)
