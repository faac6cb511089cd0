from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels.markdown import MAX_TEXT, Span, Style, read, split, utf16

PLAIN, BOLD, CODE, PRE = Style.PLAIN, Style.BOLD, Style.CODE, Style.PRE


def spans(text: str) -> list[tuple[str, str]]:
    return [(span.style, span.text) for span in read(text)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", [(PLAIN, "plain")]),
        ("", []),
        ("a **b c** d", [(PLAIN, "a "), (BOLD, "b c"), (PLAIN, " d")]),
        ("## Head **x**\nrest", [(BOLD, "Head x"), (PLAIN, "\nrest")]),
        ("run `ls <x>` now", [(PLAIN, "run "), (CODE, "ls <x>"), (PLAIN, " now")]),
        ("a\n```py\nx = **1**\n\n```\nb", [(PLAIN, "a\n"), (PRE, "x = **1**\n"), (PLAIN, "\nb")]),
        ("```\nopen to the end", [(PRE, "open to the end")]),
        ("[here](https://a.test/x)", [(PLAIN, "here (https://a.test/x)")]),
        ("[](https://a.test)", [(PLAIN, "https://a.test")]),
        ("![chart](https://a.test/c.png)", [(PLAIN, "chart (https://a.test/c.png)")]),
    ],
)
def test_the_markdown_that_agents_write_is_read(text: str, shown: list[tuple[str, str]]) -> None:
    assert spans(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "cron: */5 * * * * in UTC",
        "2 ** 3 ** 4",
        "claimed_not_started",
        "[x](javascript:alert(1))",
        "`open",
        "**open",
        "a ``` b",
        "#channel",
        "<b>bold</b> &amp; <script>",
    ],
)
def test_what_only_looks_like_markup_is_plain_text(text: str) -> None:
    assert spans(text) == [(PLAIN, text)]


def test_a_link_cannot_hide_where_it_leads() -> None:
    assert spans("[https://good.test](https://bad.test)") == [
        (PLAIN, "https://good.test (https://bad.test)")
    ]


def test_direction_marks_and_mass_mentions_are_harmless_in_every_style() -> None:
    hostile = "\u202eevil @channel <!here> \x00"
    text = f"{hostile} **{hostile}** `{hostile}`\n```\n{hostile}\n```"
    shown = "".join(span.text for span in read(text))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00]|@channel|<!", shown)


def test_a_text_without_end_is_cut() -> None:
    shown = "".join(span.text for span in read("x" * 100_000))
    assert len(shown) == MAX_TEXT
    assert shown.endswith("… cut")


def joined(parts: list[list[Span]]) -> list[str]:
    return ["".join(span.text for span in part) for part in parts]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("one two", ["one two"]),
        ("aaaa bbbb cccc dddd", ["aaaa bbbb", "cccc dddd"]),
        ("aaaaa\nbb cc dd", ["aaaaa", "bb cc dd"]),
        ("aaaaa\n\nbbb cc\ndd", ["aaaaa", "bbb cc\ndd"]),
        ("x" * 25, ["x" * 10, "x" * 10, "x" * 5]),
        ("abc `12345678` def", ["abc", "12345678", "def"]),
        ("ab **cd ef gh**", ["ab", "cd ef gh"]),
        ("  \n ", []),
    ],
)
def test_a_long_text_is_cut_where_it_hurts_least(text: str, parts: list[str]) -> None:
    assert joined(split(read(text), 10)) == parts


def test_code_that_fits_into_one_message_is_not_cut() -> None:
    text = "intro intro\n```\n1234\n5678\n```\nend"
    assert joined(split(read(text), 14)) == ["intro intro", "1234\n5678\nend"]


def test_code_that_is_cut_goes_on_as_code_at_a_line() -> None:
    text = "```\n" + "\n".join(f"  line {n}" for n in range(6)) + "\n```"
    parts = split(read(text), 20)
    assert [[span.style for span in part] for part in parts] == [[PRE]] * 3
    assert joined(parts) == [f"  line {n}\n  line {n + 1}" for n in (0, 2, 4)]


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧", "e\u0301", "👍🏽", "❤\ufe0f"])
def test_what_is_shown_as_one_character_is_not_cut(cluster: str) -> None:
    units = utf16(cluster)
    parts = joined(split([Span(cluster * 20)], 2 * units + 1, utf16))
    assert parts == [cluster * 2] * 10


def test_a_cluster_longer_than_a_message_is_cut_all_the_same() -> None:
    parts = joined(split([Span("a" + "\u0301" * 500)], 100))
    assert "".join(parts) == "a" + "\u0301" * 500
    assert max(map(len, parts)) <= 100


writing = st.lists(
    st.one_of(
        st.text(st.sampled_from(list("ab \n*`#[](){}<>&🎉é_-")), max_size=30),
        st.sampled_from(["```\n", "\n```\n", "**", "`code`", "x" * 40, "\n\n", "👨‍👩‍👧"]),
    ),
    max_size=30,
).map("".join)


@given(writing, st.integers(2, 60))
@settings(deadline=None, derandomize=True, max_examples=400)
def test_no_part_is_too_long_or_blank_and_only_blanks_get_lost(text: str, limit: int) -> None:
    whole = read(text)
    parts = split(whole, limit, utf16)
    for part in joined(parts):
        assert 0 < utf16(part) <= limit
        assert part.strip()
    said = "".join(span.text for span in whole)
    assert re.sub(r"\s", "", "".join(joined(parts))) == re.sub(r"\s", "", said)


@given(writing, st.integers(20, 80))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_code_keeps_its_style_in_every_part(text: str, limit: int) -> None:
    whole = read(text)
    for style in (CODE, PRE, BOLD):
        before = "".join(span.text for span in whole if span.style is style)
        parts = split(whole, limit, utf16)
        after = "".join(span.text for part in parts for span in part if span.style is style)
        assert re.sub(r"\s", "", after) == re.sub(r"\s", "", before)
