"""The cron dialect: what is read, and what is refused by name (contract §3, Cron.)."""

import pytest

from bot.schedules.expression import MAX_LENGTH, parse
from bot.words import Code, Refused
from tests.unit.schedules.crons import cron_of


def values(bits: int) -> list[int]:
    return [value for value in range(64) if bits >> value & 1]


class TestReads:
    @pytest.mark.parametrize(
        ("text", "minutes"),
        [
            ("7", [7]),
            ("07", [7]),
            ("1,5,59", [1, 5, 59]),
            ("5,1,5", [1, 5]),
            ("57-59", [57, 58, 59]),
            ("8-8", [8]),
            ("*/20", [0, 20, 40]),
            ("*/45", [0, 45]),
            ("*/59", [0, 59]),
            ("5/25", [5, 30, 55]),
            ("59/15", [59]),
            ("10-20/5", [10, 15, 20]),
            ("0-10/20", [0]),
            ("0-2,30/15,*/59", [0, 1, 2, 30, 45, 59]),
            ("*", list(range(60))),
            ("*/1", list(range(60))),
        ],
    )
    def test_minutes(self, text: str, minutes: list[int]):
        assert values(cron_of(f"{text} * * * *").minutes) == minutes

    @pytest.mark.parametrize(
        ("text", "weekdays"),
        [
            ("0", [0]),
            ("7", [0]),
            ("0,7", [0]),
            ("5-7", [0, 5, 6]),
            ("0-7", [0, 1, 2, 3, 4, 5, 6]),
            ("SUN-MON", [0, 1]),
            ("mon-Fri", [1, 2, 3, 4, 5]),
            ("fri-7", [0, 5, 6]),
            ("*/2", [0, 2, 4, 6]),
            ("MON/2", [1, 3, 5]),
            ("7/2", [0]),
            ("1-7/3", [0, 1, 4]),
        ],
    )
    def test_weekdays_with_sunday_as_0_and_7(self, text: str, weekdays: list[int]):
        assert values(cron_of(f"0 9 * * {text}").weekdays) == weekdays

    @pytest.mark.parametrize(
        ("text", "months"),
        [("JAN,jul", [1, 7]), ("oct-Dec", [10, 11, 12]), ("3-MAY", [3, 4, 5]), ("*/5", [1, 6, 11])],
    )
    def test_months(self, text: str, months: list[int]):
        assert values(cron_of(f"0 9 1 {text} *").months) == months

    @pytest.mark.parametrize(
        ("text", "days", "last"),
        [("L", [], True), ("l", [], True), ("1,L", [1], True), ("*/10", [1, 11, 21, 31], False)],
    )
    def test_days(self, text: str, days: list[int], last: bool):
        cron = cron_of(f"0 9 {text} * *")
        assert (values(cron.days), cron.last_day) == (days, last)

    def test_blanks_are_spaces_and_tabs_in_any_number(self):
        assert cron_of(" \t0  9\t* * 1-5 ").fields == cron_of("0 9 * * 1-5").fields

    def test_the_source_text_is_kept_and_tells_two_crons_apart(self):
        spaced, plain = cron_of("0 9  * * mon"), cron_of("0 9 * * mon")
        assert spaced.source == "0 9  * * mon"
        assert spaced != plain
        assert plain == cron_of("0 9 * * mon")
        assert len({plain, cron_of("0 9 * * mon")}) == 1

    @pytest.mark.parametrize(
        ("text", "either"),
        [
            ("0 9 15 * 1", True),
            ("0 9 1-31 * 1", True),
            ("0 9 2/2 * 1", True),
            ("0 9 * * 1", False),
            ("0 9 15 * *", False),
            ("0 9 */2 * 1", False),
            ("0 9 15 * */2", False),
            ("0 9 *,15 * 1", False),
            ("0 9 15,* * 1", True),
        ],
    )
    def test_a_day_field_that_starts_with_a_star_is_not_restricted(self, text: str, either: bool):
        assert cron_of(text).either is either

    @pytest.mark.parametrize(
        ("text", "fixed"),
        [
            ("0 9 * * *", True),
            ("5/15 0-23 * * *", True),
            ("*/5 9 * * *", False),
            ("0 */5 * * *", False),
            ("0 * * * *", False),
        ],
    )
    def test_a_time_field_that_starts_with_a_star_follows_real_time(self, text: str, fixed: bool):
        assert cron_of(text).fixed is fixed


REFUSED = [
    # the number of fields
    ("", "five fields"),
    ("  ", "five fields"),
    ("9", "five fields"),
    ("* * * *", "five fields"),
    ("0 * * * * *", "no seconds"),
    ("0 0 0 1 1 * 2026", "this has 7"),
    ("0 9 * * 1-5 extra words", "this has 7"),
    # aliases
    ("@daily", "Aliases"),
    ("@every 5m", "Aliases"),
    ("@reboot", "Aliases"),
    (" @hourly", "Aliases"),
    # what other dialects have
    ("H * * * *", "minute: 'H': H is not known"),
    ("0 H(0-5) * * *", "hour: 'H(0-5)': H is not known"),
    ("0 9 15W * *", "day of month: '15W': the nearest weekday (W)"),
    ("0 9 LW * *", "day of month: 'LW': the nearest weekday (W)"),
    ("0 9 W * *", "day of month: 'W': the nearest weekday (W)"),
    ("0 9 * * MON#2", "day of week: 'MON#2': the nth weekday (#)"),
    ("0 9 * * 1#1,3", "day of week: '1#1': the nth weekday (#)"),
    ("0 9 ? * 1", "day of month: '?' is not known: write *"),
    ("0 9 1 * ?", "day of week: '?' is not known: write *"),
    ("0 9 * * 5L", "day of week: '5L': L is the last day of the month"),
    ("0 9 * * L", "day of week: 'L': L is the last day of the month"),
    ("0 9 * L *", "month: 'L': L is the last day of the month"),
    ("L 9 * * *", "minute: 'L': L is the last day of the month"),
    ("0 9 L-3 * *", "day of month: 'L-3': L is the last day of the month"),
    ("0 9 1-L * *", "day of month: '1-L': L is the last day of the month"),
    ("0 9 L/2 * *", "day of month: 'L/2': L is the last day of the month"),
    # steps
    ("*/0 * * * *", "minute: the step in '*/0'"),
    ("*/60 * * * *", "minute: the step in '*/60' is out of range: use 1 to 59"),
    ("*/90 * * * *", "minute: the step in '*/90'"),
    ("5/60 * * * *", "minute: the step in '5/60'"),
    ("0-10/60 * * * *", "minute: the step in '0-10/60'"),
    ("0 */24 * * *", "hour: the step in '*/24' is out of range: use 1 to 23"),
    ("0 0 */31 * *", "day of month: the step in '*/31'"),
    ("0 0 1 */12 *", "month: the step in '*/12'"),
    ("0 0 * * */7", "day of week: the step in '*/7'"),
    ("*/ * * * *", "minute: the step in '*/'"),
    ("*/x * * * *", "minute: the step in '*/X'"),
    ("*/-5 * * * *", "minute: the step in '*/-5'"),
    ("*/5/5 * * * *", "minute: the step in '*/5/5'"),
    ("/5 * * * *", "minute: nothing stands before the step in '/5': write */5"),
    # values out of range
    ("60 * * * *", "minute: '60' is out of range: use 0 to 59"),
    ("0 24 * * *", "hour: '24' is out of range: use 0 to 23"),
    ("0 0 0 * *", "day of month: '0' is out of range: use 1 to 31"),
    ("0 0 32 * *", "day of month: '32' is out of range"),
    ("0 0 * 0 *", "month: '0' is out of range: use 1 to 12"),
    ("0 0 * 13 *", "month: '13' is out of range"),
    ("0 0 * * 8", "day of week: '8' is out of range: use 0 to 7"),
    ("0-99999999 * * * *", "minute: '99999999' is out of range"),
    ("9" * 400 + " * * * *", "minute: '9999"),
    # ranges that run backwards
    ("5-1 * * * *", "minute: the range '5-1' runs backwards, and nothing wraps: write 5-59,0-1"),
    ("0 22-2 * * *", "hour: the range '22-2' runs backwards, and nothing wraps: write 22-23,0-2"),
    ("0 0 25-5 * *", "day of month: the range '25-5' runs backwards"),
    ("0 0 1 NOV-feb *", "month: the range 'NOV-FEB' runs backwards, and nothing wraps: write NOV-"),
    ("0 9 * * SAT-SUN", "day of week: the range 'SAT-SUN' runs backwards"),
    (
        "0 9 * * 7-1",
        "day of week: the range '7-1' runs backwards, and nothing wraps: write SUN-MON",
    ),
    ("0 9 * * 5-1", "day of week: the range '5-1' runs backwards"),
    # what is no number and no name
    ("-5 9 * * *", "minute: '-5': a value is missing or has a sign"),
    ("+5 9 * * *", "minute: '+5': a value is missing or has a sign"),
    ("5- 9 * * *", "minute: '5-': a value is missing or has a sign"),
    ("1-2-3 9 * * *", "minute: '2-3' is not a whole number"),
    ("1.5 * * * *", "minute: '1.5' is not a whole number"),
    ("1e1 * * * *", "minute: '1E1' is not a whole number"),
    ("0x10 * * * *", "minute: '0X10' is not a whole number"),
    ("1_0 9 * * *", "minute: '1_0' is not a whole number"),
    ("0;DROP * * * *", "minute: '0;DROP' is not a whole number"),
    ("** * * * *", "minute: '**' is not a whole number"),
    ("*5 * * * *", "minute: '*5' is not a whole number"),
    ("*-5 * * * *", "minute: '*' is not a whole number"),
    ("MON * * * *", "minute: 'MON' is not a whole number"),
    ("0 9 JAN * *", "day of month: 'JAN' is not a whole number"),
    ("0 9 * MON *", "month: 'MON' is neither a number nor a name of three letters such as JAN"),
    ("0 9 * january *", "month: 'JANUARY' is neither a number nor a name of three letters"),
    ("0 9 * * monday", "day of week: 'MONDAY' is neither a number nor a name of three letters"),
    ("1,,2 * * * *", "minute: '1,,2' has an empty list item"),
    (",1 * * * *", "minute: ',1' has an empty list item"),
    ("0 9 L, * *", "day of month: 'L,' has an empty list item"),
    # what is not ASCII, or not a blank
    ("0 ９ * * *", "hour: '９' (U+FF19) is not ASCII"),
    ("٣ 9 * * *", "minute: '٣' (U+0663) is not ASCII"),
    ("0 9 * * ﬁ", "day of week: 'ﬁ' (U+FB01) is not ASCII"),
    ("0 9 * * ſun", "day of week: 'ſ' (U+017F) is not ASCII"),
    ("0 9 * * ", "this has 4"),
    ("0\u00a09 * * *", "cron: '\\xa0' (U+00A0) is not ASCII"),
    ("0 9 * * 1–5", "day of week: '–' (U+2013) is not ASCII"),
    ("0 9 * * 1\n", "day of week: '1\\n' is neither a number"),
    ("0 9 * * 1\x00", "day of week: '1\\x00' is neither a number"),
    # too long
    ("*" * 5000, "5000 characters long"),
    (f"{'0,' * MAX_LENGTH}0 * * * *", "characters long"),
]


class TestRefuses:
    @pytest.mark.parametrize(("text", "says"), REFUSED)
    def test_by_name_with_the_field_and_what_to_do(self, text: str, says: str):
        refused = parse(text)
        assert isinstance(refused, Refused), refused
        assert refused.code is Code.BAD_CRON
        assert says in refused.detail
        assert len(refused.detail) < 250
        assert refused.detail.isprintable()

    def test_the_longest_useful_expression_is_not_too_long(self):
        every = [range(60), range(24), range(1, 32), range(1, 13), range(8)]
        text = " ".join(",".join(f"{value:02}" for value in field) for field in every)
        assert len(text) <= MAX_LENGTH
        assert values(cron_of(text).minutes) == list(range(60))
