from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.base import MAX_POST, channel_of, cut, headline, neutral, thread_key, written_out

MENTION = re.compile(r"@(channel|here|everyone)\b|<!", re.IGNORECASE)
shouting = st.text(
    st.sampled_from(list("<!@> channelhereveryone|^\n\u200b")), max_size=60
) | st.lists(
    st.sampled_from(["@channel", "<!here>", "@Everyone", "<", "!", "@", "<!channel|x>", " "])
).map("".join)


def test_a_thread_lies_in_its_channel() -> None:
    assert channel_of("web:general/abc") == "web:general"
    assert channel_of("telegram:-100/7") == "telegram:-100"
    assert channel_of(thread_key("slack:C042", "1.2")) == "slack:C042"


@pytest.mark.parametrize(
    "text",
    ["@channel", "hey @here!", "@EVERYONE", "<!channel>", "<!subteam^S1>", "(@channel)", "＠here"],
)
def test_a_mass_mention_is_parted_by_a_space_that_nobody_sees(text: str) -> None:
    changed = neutral(text)
    assert changed != text
    assert changed.replace("\u200b", "") == text
    assert not MENTION.search(changed)


@pytest.mark.parametrize("text", ["a@b.example", "@channels", "@alice", "a < b", "@", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert neutral(text) == text


@given(shouting)
def test_no_text_shouts_once_it_is_neutral_and_twice_changes_nothing(text: str) -> None:
    changed = neutral(text)
    assert not MENTION.search(changed)
    assert neutral(changed) == changed


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain é שלום\n\t!", "plain é שלום\n\t!"),
        ("a\u202eb\u2066\u200f", "a\\u{202E}b\\u{2066}\\u{200F}"),
        ("a\u200b\u2060\u00ad\ufeff", "a\\u{200B}\\u{2060}\\u{AD}\\u{FEFF}"),
        ("a\U000e0041\U000e0100\ufe0f", "a\\u{E0041}\\u{E0100}\\u{FE0F}"),
        ("a\u2028b\u2029\x1b\r", "a\\u{2028}b\\u{2029}\\u{1B}\\u{D}"),
        ("\ue000\ud800\uffff\u3164\u2800", "\\u{E000}\\u{D800}\\u{FFFF}\\u{3164}\\u{2800}"),
    ],
    ids=ascii,
)
def test_a_character_that_hides_is_written_out(text: str, written: str) -> None:
    assert written_out(text) == written


def test_a_long_text_is_cut_with_a_pointer_to_its_run() -> None:
    assert cut("x" * MAX_POST, "r1") == "x" * MAX_POST
    shown = cut("x" * 34_567, "r1")
    assert len(shown) <= MAX_POST == 12_000
    assert shown.endswith("cut: 34,567 characters in all. The whole of it: run show r1")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("one\ntwo", "one"),
        ("\n\n  one  \n", "one"),
        ("", ""),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 119 + "…"),
    ],
)
def test_a_headline_is_the_first_line_that_says_anything(text: str, title: str) -> None:
    assert headline(text) == title
