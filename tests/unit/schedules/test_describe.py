"""An expression in one sentence: readable, and true of the values that match."""

import random
from datetime import date, datetime, timedelta

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import given, settings

from bot.schedules.describe import describe
from tests.unit.schedules.crons import EXPRESSIONS, cron_of

GOLDEN = [
    # how often
    ("* * * * *", "every minute"),
    ("*/15 * * * *", "every 15 minutes"),
    ("0,15,30,45 * * * *", "every 15 minutes"),
    ("*/30 * * * *", "every 30 minutes"),
    ("0 * * * *", "every hour, on the hour"),
    ("5 * * * *", "at minute 5 of every hour"),
    ("*/45 * * * *", "at minutes 0 and 45 of every hour"),
    ("5/15 * * * *", "at minutes 5, 20, 35 and 50 of every hour"),
    ("*/7 * * * *", "at every 7th minute from 0 to 56 of every hour"),
    ("0-10,30 * * * *", "at minutes 0 to 10 and 30 of every hour"),
    ("*/20 8-10 * * *", "every 20 minutes from 08:00 to 10:59 every day"),
    ("* 9 * * *", "every minute from 09:00 to 09:59 every day"),
    ("*/10 */2 * * *", "every 10 minutes in every 2nd hour from 00 to 22 every day"),
    ("* 0-11,13-23 * * *", "every minute in the hours 00 to 11 and 13 to 23 every day"),
    ("0 */2 * * *", "every 2 hours from 00:00 to 22:00 every day"),
    ("30 9-17 * * 1-5", "every hour from 09:30 to 17:30 every weekday"),
    # times of day
    ("30 2 * * *", "at 02:30 every day"),
    ("0 9,17 * * *", "at 09:00 and 17:00 every day"),
    ("0,30 9 * * *", "at 09:00 and 09:30 every day"),
    ("0 */5 * * *", "at 00:00, 05:00, 10:00, 15:00 and 20:00 every day"),
    ("1-20 3,9 * * *", "at minutes 1 to 20 of the hours 03 and 09 every day"),
    ("1-20 3 * * *", "at minutes 1 to 20 of the hour 03 every day"),
    ("1,2,7 8-10,12 * * *", "at minutes 1, 2 and 7 of the hours 08 to 10 and 12 every day"),
    ("0 0-11,13-23 * * *", "at minute 0 of the hours 00 to 11 and 13 to 23 every day"),
    # weekdays
    ("0 9 * * 1-5", "at 09:00 every weekday"),
    ("0 9 * * 7", "at 09:00 every Sunday"),
    ("0 9 * * SAT,SUN", "at 09:00 every Saturday and Sunday"),
    ("0 9 * * 0-6", "at 09:00 every day"),
    ("0 9 * * */2", "at 09:00 every Tuesday, Thursday, Saturday and Sunday"),
    ("*/15 * * * 1", "every 15 minutes every Monday"),
    # days of the month
    ("0 9 15 * *", "at 09:00 on the 15th"),
    ("0 9 1,2,3,21,22,23 * *", "at 09:00 on the 1st to 3rd and 21st to 23rd"),
    ("0 9 11,12,13 * *", "at 09:00 on the 11th to 13th"),
    ("0 9 L * *", "at 09:00 on the last day of the month"),
    ("0 9 15,L * *", "at 09:00 on the 15th and on the last day of the month"),
    ("0 9 */10 * *", "at 09:00 on the 1st, 11th, 21st and 31st"),
    ("0 9 */5 * *", "at 09:00 on every 5th day from the 1st to the 31st"),
    ("0 9 1-31 * *", "at 09:00 every day"),
    # months
    ("0 9 1 1 *", "at 09:00 on the 1st of January"),
    ("0 9 29 2 *", "at 09:00 on the 29th of February"),
    ("0 9 L 2 *", "at 09:00 on the last day of February"),
    ("0 9 1 1-3,7 *", "at 09:00 on the 1st of January to March and July"),
    ("0 9 * 1,7 1-5", "at 09:00 every weekday in January and July"),
    ("0 9 * 3 *", "at 09:00 every day in March"),
    ("*/5 * * 1 *", "every 5 minutes in January"),
    # both day fields: either one
    ("0 3 15 * 1", "at 03:00 on the 15th or on any Monday"),
    ("0 9 15 6,7 MON,FRI", "at 09:00 on the 15th or on any Monday or Friday, in June and July"),
    ("0 9 L * 1-5", "at 09:00 on the last day of the month or on any weekday"),
    ("0 9 1-31 * 1", "at 09:00 every day"),
    ("0 9 15 * 0-7", "at 09:00 every day"),
    # both day fields, one of them with a star: both
    (
        "0 7 15 * */2",
        "at 07:00 on the 15th and only if that day is a Tuesday, Thursday, Saturday or Sunday",
    ),
    (
        "0 7 */2 * 1",
        "at 07:00 on every 2nd day from the 1st to the 31st and only if that day is a Monday",
    ),
    (
        "0 0 L 2 */6",
        "at 00:00 on the last day of the month and only if that day is a Saturday or Sunday, "
        "in February",
    ),
    # what can never fire has a sentence too
    ("0 0 30 2 *", "at 00:00 on the 30th of February"),
]


@pytest.mark.parametrize(("text", "sentence"), GOLDEN)
def test_golden(text: str, sentence: str):
    assert describe(cron_of(text), "UTC") == f"{sentence} (UTC)"


def test_the_zone_closes_the_sentence():
    described = describe(cron_of("0 9 * * 1-5"), "Europe/Berlin")
    assert described == "at 09:00 every weekday (Europe/Berlin)"


@given(EXPRESSIONS)
@settings(deadline=None, derandomize=True, max_examples=1000)
def test_every_expression_has_one_plain_line(text: str):
    described = describe(cron_of(text), "UTC")
    assert described.isascii()
    assert described.isprintable()
    assert "  " not in described
    assert " ," not in described
    assert described.endswith(" (UTC)")


def test_two_expressions_with_one_sentence_fire_alike():
    """A sentence that left something out would be shared by rows that differ."""
    chance = random.Random(20261130)

    def field(low: int, high: int) -> str:
        a, b = sorted(chance.sample(range(low, high + 1), 2))
        step = chance.choice([1, 2, 3, 5, 15]) % (high - low) or 1
        items = [
            "*",
            f"*/{step}",
            str(a),
            f"{a}-{b}",
            f"{a},{b}",
            f"{low}-{high}",
            f"{a}-{b}/{step}",
        ]
        return chance.choice(items)

    def text() -> str:
        day, weekday = field(1, 31), field(0, 6)
        day = chance.choice([day, "*", "L", "15", "15,L"])
        weekday = chance.choice([weekday, "*", "1", "1-5"])
        minute = chance.choice(["0", "30", field(0, 59)])
        hour = chance.choice(["*", "9", field(0, 23)])
        return f"{minute} {hour} {day} {chance.choice(['*', '2', field(1, 12)])} {weekday}"

    # Two years, one of them a leap year: enough to tell two rules for days apart.
    years = [date(2027, 1, 1) + timedelta(days=n) for n in range(731)]
    meaning: dict[str, tuple[object, ...]] = {}
    shared = 0
    for _ in range(6000):
        expression = text()
        try:
            sim = CronSim(expression, datetime(2000, 1, 1))
        except CronSimError:
            continue  # a date that can never come
        days = tuple(d for d in years if d.month in sim.months and sim.match_day(d))
        fires = (frozenset(sim.minutes), frozenset(sim.hours), days)
        described = describe(cron_of(expression), "UTC")
        shared += described in meaning
        assert meaning.setdefault(described, fires) == fires, (expression, described)
    assert shared > 500
