from __future__ import annotations

import tomllib
from pathlib import Path

from bot.http.health import VERSION
from bot.ports import Fault, TickRecord
from tests.support.drive import run
from tests.unit.http.client import office


def test_a_bot_that_never_ticked_is_well() -> None:
    answer = office().get("/healthz")
    assert answer.status == 200
    assert answer.json == {
        "ok": True,
        "version": VERSION,
        "tick": {"last": None, "lag_s": None},
    }


def test_the_last_tick_is_told_with_its_age() -> None:
    client = office()
    client.house.clock.set("2026-03-02T09:00:01Z")
    run(client.house.history.record_tick(TickRecord(at=client.house.clock.now_ms(), ms=5)))
    client.house.clock.set("2026-03-02T09:01:13.500Z")
    tick = client.get("/healthz").json["tick"]
    assert tick == {"last": "2026-03-02T09:00:01+00:00", "lag_s": 72.5}


def test_a_bot_whose_history_is_down_is_not_well() -> None:
    async def hook(point: str) -> None:
        raise Fault("down")

    answer = office(pause=hook).get("/healthz")
    assert answer.status == 503
    assert answer.json["ok"] is False


def test_a_wrong_credential_does_not_hide_the_health() -> None:
    assert office().bearer("wrong").get("/healthz").status == 200


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["project"]["version"] == VERSION
