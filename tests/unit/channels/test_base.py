from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.base import MAX_POST, channel_of, cut, headline, neutral, thread_key

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
