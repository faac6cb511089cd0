"""Time zones: names from the bundled tzdata alone, and stretches of one offset."""

import io
import struct
import zoneinfo
from importlib import resources
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from bot.schedules.cron import next_fires
from bot.schedules.zones import DAY, SPAN, Stretch, offset_at, parse_zone, stretches
from bot.words import Code, Refused
from tests.unit.schedules.crons import DAY_MS, cron_of, ms, zone_of

NAMES = resources.files("tzdata").joinpath("zones").read_text("utf-8").split()


class TestNames:
    def test_every_bundled_name_is_a_zone(self):
        assert len(NAMES) > 500
        for name in NAMES:
            assert zone_of(name).key == name

    def test_the_machines_own_zones_are_not_used(self):
        zoneinfo.reset_tzpath(to=[])
        try:
            assert offset_at(zone_of("Asia/Tokyo"), 0) == 9 * 3600
        finally:
            zoneinfo.reset_tzpath()

    def test_a_zone_is_the_same_object_each_time(self):
        assert zone_of("Europe/Berlin") is zone_of("Europe/Berlin")

    @pytest.mark.parametrize(
        "name",
        [
            "",
            " ",
            ".",
            "/",
            "UTC+2",
            "GMT+25",
            "+02:00",
            "Z",
            "CEST",
            "Europe",
            "Europe/",
            "Europe/Berlin/",
            "Europe/Berlin ",
            " Europe/Berlin",
            "europe/berlin",
            "EUROPE/BERLIN",
            "utc",
            "Mars/Olympus",
            "Europe/Berlim",
            "localtime",
            "posixrules",
            "posix/Europe/Berlin",
            "right/Europe/Berlin",
            "../../etc/passwd",
            "/etc/localtime",
            "Europe/../Europe/Berlin",
            "Europe\\Berlin",
            "Europe/Berlin\x00",
            "Europe/Berlin\n",
            "__init__.py",
            "tzdata.zi",
            "zone.tab",
            "Ｅurope/Berlin",
            "x" * 100_000,
        ],
    )
    def test_anything_else_is_refused(self, name: str):
        refused = parse_zone(name)
        assert isinstance(refused, Refused), refused
        assert refused.code is Code.BAD_ZONE
        assert refused.detail.startswith("zone: ")
        assert len(refused.detail) < 250
        assert refused.detail.isprintable()

    @pytest.mark.parametrize(
        ("name", "near"),
        [
            ("Europe/Berlim", "Europe/Berlin"),
            ("europe/berlin", "Europe/Berlin"),
            ("Europe/Berlin ", "Europe/Berlin"),
            ("berlin", "Europe/Berlin"),
            ("New York", "America/New_York"),
            ("America/New York", "America/New_York"),
            ("utc", "UTC"),
            ("posix/Europe/Berlin", "Europe/Berlin"),
        ],
    )
    def test_a_near_name_is_offered(self, name: str, near: str):
        refused = parse_zone(name)
        assert isinstance(refused, Refused)
        assert f"Did you mean {near}?" in refused.detail

    def test_an_offset_is_told_from_a_zone(self):
        refused = parse_zone("UTC+2")
        assert isinstance(refused, Refused)
        assert "is an offset, not a zone" in refused.detail


def stretches_around(zone: ZoneInfo, text: str) -> list[Stretch]:
    index = ms(text) // 1000 // SPAN
    return [s for i in (index - 1, index, index + 1) for s in stretches(zone, i)]


class TestStretches:
    @pytest.mark.parametrize(
        ("name", "change", "before", "after"),
        [
            ("Europe/Berlin", "2026-03-29T01:00:00+00:00", 3600, 7200),
            ("Europe/Berlin", "2026-10-25T01:00:00+00:00", 7200, 3600),
            ("Europe/Dublin", "2026-10-25T01:00:00+00:00", 3600, 0),
            ("Australia/Lord_Howe", "2026-04-04T15:00:00+00:00", 39600, 37800),
            ("Pacific/Apia", "2011-12-30T10:00:00+00:00", -36000, 50400),
            ("Europe/London", "1847-12-01T00:01:15+00:00", -75, 0),
            ("Africa/Monrovia", "1972-01-07T00:44:30+00:00", -2670, 0),
        ],
    )
    def test_a_change_parts_two_stretches(self, name: str, change: str, before: int, after: int):
        at = ms(change) // 1000
        found = stretches_around(zone_of(name), change)
        starting = [s for s in found if s.start == at]
        assert [(s.offset, s.reached - at) for s in starting] == [(after, before)]
        assert [s.offset for s in found if s.end == at] == [before]
        others = [s for s in found if s.start != at]
        assert all(s.reached == s.start + s.offset for s in others)

    def test_stretches_tile_real_time(self):
        zone = zone_of("America/New_York")
        found = [s for index in range(3000, 3200) for s in stretches(zone, index)]
        assert all(a.end == b.start for a, b in pairwise(found))
        assert all(a.end + a.offset == b.reached for a, b in pairwise(found))
        assert found[-1].end - found[0].start == 200 * SPAN

    @pytest.mark.parametrize("minutes_before_the_edge", [1, 30, 59, 60])
    def test_what_is_repeated_over_the_edge_of_a_span_is_known_there(
        self, minutes_before_the_edge: int
    ):
        edge = 4000 * SPAN  # midnight UTC
        change = edge - minutes_before_the_edge * 60
        zone = zone_with_change(change, before=3600, after=0)
        (stretch,) = stretches(zone, 4000)
        assert stretch == (edge, edge + SPAN, 0, max(edge, change + 3600))
        # Read first an hour before the edge's own minute, and not fired a second time.
        found = next_fires(cron_of("0 0 * * *"), zone, edge * 1000 - DAY_MS, 3)
        first = edge - 3600 if change > edge - 3600 else edge
        assert found == [t * 1000 for t in (first, edge + DAY, edge + 2 * DAY)]

    def test_no_zone_changes_twice_within_what_is_probed_nor_by_more_than_a_day(self):
        """What ``stretches`` and the search in ``cron`` take for granted of the bundled data."""
        for name in NAMES:
            changes = offset_changes(name)
            assert all(b - a > SPAN + DAY for (a, *_), (b, *_) in pairwise(changes)), name
            for _, before, after in changes:
                assert abs(after - before) <= DAY
                assert max(abs(before), abs(after)) < DAY

    def test_every_change_of_the_bundled_data_is_found(self):
        for name in NAMES[::7]:
            zone = zone_of(name)
            for at, before, after in offset_changes(name)[-60:]:
                found = [s for s in stretches(zone, at // SPAN) if s.start == at]
                assert [(s.offset, s.reached) for s in found] == [(after, at + before)], name


def zone_with_change(second: int, before: int, after: int) -> ZoneInfo:
    """A zone that changes once, as a file of the oldest form of RFC 9636."""
    header = b"TZif" + bytes(16) + struct.pack(">6l", 0, 0, 0, 1, 2, 4)
    kinds = struct.pack(">lBB", before, 0, 0) + struct.pack(">lBB", after, 0, 0)
    file = header + struct.pack(">l", second) + bytes([1]) + kinds + b"LMT\0"
    return ZoneInfo.from_file(io.BytesIO(file), key="Test/Zone")


def offset_changes(name: str) -> list[tuple[int, int, int]]:
    """``(second, offset before, offset after)`` as the zone's file (RFC 9636) spells them out."""
    data = resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()

    def counts(at: int) -> tuple[int, ...]:
        return struct.unpack(">6l", data[at + 20 : at + 44])

    utc_flags, std_flags, leaps, times, kinds, letters = counts(0)
    at = 44 + times * 5 + kinds * 6 + letters + leaps * 8 + std_flags + utc_flags
    *_, times, kinds, _ = counts(at)
    at += 44
    seconds = struct.unpack(f">{times}q", data[at : at + 8 * times])
    at += 8 * times
    order = data[at : at + times]
    at += times
    offsets = [struct.unpack(">l", data[at + 6 * k : at + 6 * k + 4])[0] for k in range(kinds)]
    steps = [offsets[0], *(offsets[k] for k in order)]
    return [
        (second, before, after)
        for second, (before, after) in zip(seconds, pairwise(steps), strict=True)
        if before != after
    ]
