from __future__ import annotations

from typing import Any

import pytest

from bot.authz.actor import Actor, Surface
from bot.dispatch.handback import make_handback, render_handback
from bot.schedules.firing import run_id_of
from tests.support import slack_payloads as sent
from tests.support.drive import run
from tests.unit.builders import entry
from tests.unit.http.chats import Chats

URL = "https://slack.test/actions/1"
THREAD = f"slack:C042/{sent.ROOT}"
MINUTE = 60_000


@pytest.fixture
def chats() -> Chats:
    return Chats()


def post(chats: Chats, text: str) -> dict[str, Any]:
    """Something the bot posted, as Slack took it."""
    key = f"k{len(chats.slack.posts)}"
    slack, now_ms = chats.house.channels["slack"], chats.house.clock.now_ms()
    run(slack.post(THREAD, text, key=key, now_ms=now_ms))
    return chats.slack.posts[-1]


def press(chats: Chats, made: dict[str, Any], *, user: str = sent.ADA, action_ts: str = "1.1"):
    """Press the button under a post; Slack is answered, the work put off is done."""
    body = sent.pressed(made, URL, user=user, action_ts=action_ts)
    answer = chats.slack_sends(body, form=True)
    assert (answer.status, answer.json) == (200, {})
    chats.finish()
    return chats.slack.answers[-1] if chats.slack.answers else None


def handed_back(chats: Chats, command: str = "config set zone Asia/Tokyo") -> dict[str, Any]:
    actor, now_ms = Actor(Surface.SLACK, sent.ADA), chats.house.clock.now_ms()
    code = run(make_handback(chats.house, actor, command, now_ms))
    return post(chats, f"refused: handed_back\n{render_handback(command, code)}")


class TestConfirm:
    def test_who_it_was_handed_to_runs_it_by_pressing(self, chats: Chats):
        chats.grant("slack:U042", "config:write")
        told = press(chats, handed_back(chats))
        (row,) = chats.runs()
        assert (row["actor"], row["state"]) == ("slack:U042", "ok")
        assert chats.house.config.get().entries["zone"] == "Asia/Tokyo"
        assert chats.slack.texts()[-1].startswith("Confirmed.")
        assert (told["replace_original"], told["attachments"][-1]["text"]) == (
            True,
            "Confirmed by slack:U042.",
        )

    def test_a_double_click_runs_it_once(self, chats: Chats):
        chats.grant("slack:U042", "config:write")
        made = handed_back(chats)
        for action_ts in ("1.1", "1.1", "1.2"):
            chats.slack_sends(sent.pressed(made, URL, action_ts=action_ts), form=True)
        chats.finish()
        assert [row["code"] for row in chats.runs()].count(None) == 1
        assert chats.house.config.get().version == 2

    def test_a_later_click_is_told_that_it_was_confirmed(self, chats: Chats):
        chats.grant("slack:U042", "config:write")
        made = handed_back(chats)
        press(chats, made)
        told = press(chats, made, action_ts="1.9")
        assert told["response_type"] == "ephemeral"
        assert told["text"].startswith("refused: bad_code\n")
        assert len(chats.runs()) == 1

    def test_nobody_else_can_press_it(self, chats: Chats):
        chats.grant("slack:U043", "config:write")
        told = press(chats, handed_back(chats), user=sent.GRACE)
        assert told["response_type"] == "ephemeral"
        assert "slack:U042" in told["text"]
        assert chats.runs() == []

    def test_pressing_gives_no_authority(self, chats: Chats):
        press(chats, handed_back(chats))
        (row,) = chats.runs()
        assert (row["state"], row["code"]) == ("refused", "forbidden")
        assert "zone" not in chats.house.config.get().entries

    def test_after_ten_minutes_it_is_too_late(self, chats: Chats):
        made = handed_back(chats)
        chats.house.clock.advance(minutes=10)
        assert press(chats, made)["text"].startswith("refused: bad_code\n")

    def test_a_busy_thread_leaves_the_button_for_later(self, chats: Chats):
        chats.grant("slack:U042", "config:write")
        made = handed_back(chats)
        chats.slack_sends(sent.mention("whoami"))
        chats.slack_sends(sent.pressed(made, URL, action_ts="1.1"), form=True)
        chats.finish()
        assert chats.slack.answers == []
        assert "zone" not in chats.house.config.get().entries
        press(chats, made, action_ts="1.2")
        assert chats.house.config.get().entries["zone"] == "Asia/Tokyo"


def claimed(chats: Chats, name: str = "nightly") -> str:
    """A row whose claim of five minutes ago never started; the run id of its minute."""
    due = chats.house.clock.now_ms() - 5 * MINUTE
    row = entry(name, last_due_at=due, last_fired_at=due, last_claimed_at=due, channel="slack:C042")
    chats.house.config.put({f"schedules.{name}": row})
    return run_id_of(row["id"], due)


def listed(chats: Chats, *names: str) -> dict[str, Any]:
    return post(chats, "\n".join(f"{name} · daily · claimed_not_started" for name in names))


class TestFire:
    def test_the_missed_minute_runs_and_the_message_says_so(self, chats: Chats):
        key = claimed(chats)
        chats.grant("slack:U042", "schedule:fire")
        told = press(chats, listed(chats, "nightly"))
        (row,) = chats.runs()
        assert (row["id"], row["trigger"], row["by"]) == (key, "refire", "slack:U042")
        assert (row["actor"], row["state"]) == ("schedule:nightly", "ok")
        assert told["replace_original"] is True
        assert told["attachments"][-1]["text"].startswith("nightly was fired by slack:U042: run ")

    def test_however_many_press_and_however_often_it_runs_once(self, chats: Chats):
        claimed(chats)
        for user in ("U042", "U043"):
            chats.grant(f"slack:{user}", "schedule:fire")
        made = listed(chats, "nightly")
        presses = [("U042", "1.1"), ("U043", "1.2"), ("U042", "1.3")]
        for user, action_ts in presses:
            chats.slack_sends(sent.pressed(made, URL, user=user, action_ts=action_ts), form=True)
        chats.finish()
        told = press(chats, made, user="U043", action_ts="1.4")
        assert len(chats.runs()) == 1
        assert "fired by slack:U042" in told["attachments"][-1]["text"]

    def test_who_lacks_the_grant_is_told_which_and_by_whom(self, chats: Chats):
        claimed(chats)
        told = press(chats, listed(chats, "nightly"))
        assert told["response_type"] == "ephemeral"
        assert told["text"].startswith("refused: forbidden\n")
        assert "grant add slack:U042 schedule:fire" in told["text"]
        assert chats.runs() == []

    def test_a_minute_that_was_overtaken_is_not_fired(self, chats: Chats):
        claimed(chats)
        chats.grant("slack:U042", "schedule:fire")
        made = listed(chats, "nightly")
        chats.house.clock.advance(hours=1)
        claimed(chats)
        assert press(chats, made)["text"].startswith("refused: conflict\n")
        assert chats.runs() == []

    def test_a_row_that_was_removed_is_not_fired(self, chats: Chats):
        claimed(chats)
        chats.grant("slack:U042", "schedule:fire")
        made = listed(chats, "nightly")
        chats.house.config.put({"schedules.nightly": None})
        assert press(chats, made)["text"].startswith("refused: no_schedule\n")

    def test_the_other_buttons_of_a_list_stay(self, chats: Chats):
        claimed(chats, "first")
        claimed(chats, "second")
        chats.grant("slack:U042", "schedule:fire")
        told = press(chats, listed(chats, "first", "second"))
        (rest, note) = told["attachments"]
        (button,) = rest["blocks"][0]["elements"]
        assert button["value"].startswith("second ")
        assert note["text"].startswith("first was fired")


@pytest.mark.parametrize("value", ["", "nightly", "nightly x y", "../x", "x" * 2_000])
@pytest.mark.parametrize("kind", ["confirm", "fire", "other", ""])
def test_a_button_of_another_shape_does_nothing(chats: Chats, kind: str, value: str) -> None:
    chats.grant("slack:U042", "schedule:fire")
    claimed(chats)
    element = {"action_id": f"{kind}-1", "text": {}, "value": value}
    attachment = {"fallback": "", "blocks": [{"type": "actions", "elements": [element]}]}
    made = {"channel": "C042", "text": "x", "attachments": [attachment]}
    press(chats, made)
    assert chats.runs() == []
