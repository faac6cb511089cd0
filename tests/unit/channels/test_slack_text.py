from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels import markdown
from bot.channels.slack_text import heard, mentioned, mrkdwn

BOT = "U0BOT"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("<@U0BOT> schedule list", "schedule list"),
        ("  <@U0BOT>: schedule list ", "schedule list"),
        ("<@U0BOT|bot>, whoami", "whoami"),
        ("please <@U0BOT> whoami", "please  whoami"),
        ("<@U0BOT>", ""),
        (
            "<@U0BOT> grant add <@U043|grace> schedule:write",
            "grant add slack:U043 schedule:write",
        ),
        ("in <#C042|general>: x", "in slack:C042: x"),
        ("in <#C042>: x", "in slack:C042: x"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("mcp add x <https://a.test/y?b=1&amp;c=2>", "mcp add x https://a.test/y?b=1&c=2"),
        ("see <https://a.test/y|the page>", "see https://a.test/y"),
        ("plan <http://README.md|README.md>", "plan README.md"),
        ("to <mailto:a@b.test|a@b.test>", "to a@b.test"),
        ("hey <!here> and <!subteam^S1|@ops> and <!channel>", "hey @here and @ops and @channel"),
        ("```\nschedule list\n```", "schedule list"),
        ("`whoami`", "whoami"),
        ("`whoami` and `help`", "`whoami` and `help`"),
        ("&lt;@U0BOT&gt; is how it is written", "<@U0BOT> is how it is written"),
        ("“curly” — dashes", "“curly” — dashes"),
    ],
)
def test_what_people_write_is_read_as_plain_text(written: str, plain: str) -> None:
    assert heard(written, BOT) == plain


def test_without_a_bot_nobody_is_dropped() -> None:
    assert heard("<@U0BOT> list", None) == "slack:U0BOT list"


def test_the_people_a_text_mentions_are_found_in_order() -> None:
    assert mentioned("<@U043|g> and <@U0BOT>, not <#C042> or &lt;@U044&gt;") == ["U043", "U0BOT"]


def said(text: str) -> str:
    return mrkdwn(markdown.read(text))


@pytest.mark.parametrize(
    ("text", "posted"),
    [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("<@U042> <https://x.test|y>", "&lt;@U042&gt; &lt;https://x.test|y&gt;"),
        ("&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;"),
        ("**bold** and `co<de>`", "*bold* and `co&lt;de&gt;`"),
        ("a\n```\nx & y\n```\nb", "a\n```\nx &amp; y\n```\nb"),
        ("refused: claimed_not_started", "refused: claimed_not_started"),
    ],
)
def test_what_the_bot_says_is_escaped(text: str, posted: str) -> None:
    assert said(text) == posted


def test_code_cannot_be_ended_from_inside() -> None:
    posted = said("```\nx ``` y\n```")
    assert posted.count("```") == 2


hostile = st.lists(
    st.sampled_from(
        [
            *("<!channel>", "<!here|x>", "<@U042>", "<", ">", "&", "!", "@everyone", "```", "`"),
            *("\n", " ", "a", "<https://x.test|safe>", "&lt;", "@channel", "\u202e", "**"),
        ]
    ),
    max_size=25,
).map("".join)


@given(hostile)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_nothing_that_is_posted_is_one_of_slacks_own_sequences(text: str) -> None:
    posted = said(text)
    assert "<" not in posted
    assert ">" not in posted
    assert not re.search(r"&(?!(amp|lt|gt);)", posted)
    assert not re.search(r"@(channel|here|everyone)\b", posted)
