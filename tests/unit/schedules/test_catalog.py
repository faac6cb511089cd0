import re
from pathlib import Path

from bot.commands.all import REGISTRY
from bot.runs import ledger
from bot.schedules.catalog import CATALOG, KEEP_ALIVE, SELF_IMPROVEMENT, WATCHDOG
from bot.schedules.catalog_run import run_catalog
from bot.schedules.cron import parse
from bot.words import Refused
from tests.support.drive import run
from tests.support.house import make_house
from tests.unit.builders import entry, ms

WRANGLER = Path(__file__).parents[3] / "wrangler.jsonc"
MONDAY = ms("2026-09-07T06:00:00+00:00")


def test_the_crons_are_those_of_wrangler():
    listed = re.search(r'"crons"\s*:\s*\[(.*?)\]', WRANGLER.read_text(), re.DOTALL)
    assert listed is not None
    assert sorted(re.findall(r'"([^"]+)"', listed[1])) == sorted(one.cron for one in CATALOG)


def test_the_crons_are_in_our_own_dialect_with_weekdays_by_name():
    for one in CATALOG:
        assert not isinstance(parse(one.cron), Refused)
        assert not re.search(r"\d", one.cron.split()[4])


def test_keep_alive_is_the_tick():
    house = make_house(commands=REGISTRY)
    house.config.put({"schedules.nightly": entry()})
    house.clock.set("2026-09-01T03:00:00+00:00")
    run(run_catalog(house, KEEP_ALIVE.cron, house.clock.now_ms()))
    assert house.engine.started == ["rownightly-20260901T0300"]


def test_self_improvement_runs_as_its_own_actor_with_its_own_grants_once_a_minute():
    house = make_house(commands=REGISTRY)
    house.clock.set(MONDAY + 3_000)
    for _ in range(2):
        run(run_catalog(house, SELF_IMPROVEMENT.cron, MONDAY))
    (run_id,) = house.engine.started
    made = run(ledger.get(house.db, run_id))
    assert (made.actor, made.source, made.channel) == (
        "schedule:self-improvement",
        "catalog",
        "web:general",
    )
    assert made.grants == SELF_IMPROVEMENT.grants
    assert run(house.history.history("self-improvement", 1, None))[0].due_at == MONDAY


def test_the_watchdog_records_its_round():
    house = make_house(commands=REGISTRY)
    run(run_catalog(house, WATCHDOG.cron, MONDAY))
    assert run(house.history.history(WATCHDOG.name, 1, None))[0].state == "ok"


def test_an_unknown_cron_does_nothing():
    house = make_house(commands=REGISTRY)
    run(run_catalog(house, "1 1 1 1 1", MONDAY))
    assert house.engine.started == []
