from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from bot.channels.slack_events import (
    Challenge,
    Ignored,
    Pressed,
    Said,
    Slash,
    read_event,
    read_pressed,
    read_slash,
    signed,
)
from tests.support import slack_payloads as sent
from tests.support.slack_server import SECRET, signature

NOW = 1_770_000_000_000
BODY = '{"type":"event_callback","text":"é"}'.encode()


def lower(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


class TestSigned:
    @pytest.mark.parametrize("age_s", [-300, -1, 0, 1, 300])
    def test_within_five_minutes_either_way(self, age_s: int):
        headers = lower(signature(BODY, NOW - age_s * 1000))
        assert signed(SECRET, headers, BODY, NOW)

    @pytest.mark.parametrize("age_s", [-301, 301, 86_400])
    def test_a_stale_one_is_none(self, age_s: int):
        headers = lower(signature(BODY, NOW - age_s * 1000))
        assert not signed(SECRET, headers, BODY, NOW)

    def test_another_body_or_another_time_is_none(self):
        headers = lower(signature(BODY, NOW))
        assert not signed(SECRET, headers, BODY + b" ", NOW)
        moved = {**headers, "x-slack-request-timestamp": str(NOW // 1000 + 1)}
        assert not signed(SECRET, moved, BODY, NOW)

    @pytest.mark.parametrize("secret", ["", "another"])
    def test_another_secret_is_none_and_no_secret_denies(self, secret: str):
        headers = lower(signature(BODY, NOW, secret))
        assert not signed(SECRET, headers, BODY, NOW)
        assert signed(secret, headers, BODY, NOW) is bool(secret)

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"x-slack-request-timestamp": str(NOW // 1000)},
            {"x-slack-signature": "v0=é\udcff"},
            {"x-slack-signature": "", "x-slack-request-timestamp": ""},
            {"x-slack-signature": "v0=", "x-slack-request-timestamp": "-5"},
            {"x-slack-signature": "v0=", "x-slack-request-timestamp": "٣٣"},
            {"x-slack-signature": "v0=", "x-slack-request-timestamp": "9" * 400},
            {"x-slack-signature": "v0=", "x-slack-request-timestamp": "1e9"},
        ],
    )
    def test_malformed_headers_are_none(self, headers: dict[str, str]):
        assert not signed(SECRET, headers, BODY, NOW)


def event(payload: Any) -> Any:
    return read_event(payload)


class TestEvents:
    def test_a_challenge_wants_its_text_back(self):
        assert event({"type": "url_verification", "challenge": "abc", "token": "x"}) == (
            Challenge("abc")
        )

    def test_a_mention_opens_a_thread_under_itself(self):
        assert event(sent.mention("schedule list")) == Said(
            "Ev0001", "U042", "C042", sent.ROOT, "schedule list"
        )

    def test_a_mention_in_a_thread_is_said_in_that_thread(self):
        said = event(sent.mention("whoami", ts="1.2", thread_ts=sent.ROOT))
        assert (said.ts, said.overheard) == (sent.ROOT, False)

    def test_a_mention_is_known_without_authorizations(self):
        payload = sent.mention("whoami")
        del payload["authorizations"]
        assert event(payload).text == "whoami"

    def test_a_direct_message_needs_no_mention(self):
        said = event(sent.direct("whoami"))
        assert (said.channel, said.text, said.overheard) == ("D042", "whoami", False)

    def test_a_direct_message_may_name_the_bot(self):
        assert event(sent.direct(f"<@{sent.BOT}> whoami")).text == "whoami"

    @pytest.mark.parametrize("subtype", ["thread_broadcast", "file_share"])
    def test_a_reply_in_a_thread_is_overheard(self, subtype: str | None):
        assert event(sent.reply("and then?")).overheard
        assert event(sent.reply("and then?", subtype=subtype)).overheard

    def test_a_mention_comes_once_though_slack_tells_it_twice(self):
        both = [sent.mention("whoami"), sent.message(f"<@{sent.BOT}> whoami", "Ev0009")]
        assert [type(event(each)) for each in both] == [Said, Ignored]
        late = sent.reply(f"<@{sent.BOT}> whoami")
        del late["authorizations"]
        assert isinstance(event(late), Ignored)

    @pytest.mark.parametrize(
        "changed",
        [
            {"bot_id": "B1"},
            {"bot_profile": {"id": "B1"}},
            {"subtype": "bot_message", "bot_id": "B1"},
            {"user": sent.BOT},
            {"user": "USLACKBOT"},
            {"subtype": "message_changed", "message": {"text": "x"}, "hidden": True},
            {"subtype": "message_deleted", "deleted_ts": "1.2", "hidden": True},
            {"subtype": "channel_join"},
            {"subtype": 7},
            {"edited": {"user": "U042", "ts": "1.2"}},
            {"user": None},
            {"user": "u042"},
            {"user": "U042; DROP"},
            {"user": {"id": "U042"}},
            {"channel": None},
            {"channel": {"id": "C042"}},
            {"channel": "X1"},
            {"ts": "now"},
            {"thread_ts": "../x"},
            {"type": "reaction_added"},
            {"type": None},
        ],
    )
    @pytest.mark.parametrize("make", [sent.mention, sent.direct, sent.reply])
    def test_whatever_is_no_persons_message_is_ignored(self, make: Any, changed: dict[str, Any]):
        assert isinstance(event(make("whoami", **changed)), Ignored)

    def test_talk_among_people_is_ignored(self):
        assert isinstance(event(sent.message("lunch?")), Ignored)

    def test_people_of_another_organisation_are_not_heard(self):
        payload = sent.mention("whoami", team="T0OTHER")
        assert isinstance(event({**payload, "is_ext_shared_channel": True}), Ignored)
        assert isinstance(event(payload), Said)

    @pytest.mark.parametrize(
        "payload",
        [
            {},
            {"type": "event_callback"},
            {"type": "event_callback", "event": "x", "event_id": "Ev1"},
            {"type": "event_callback", "event": [], "event_id": "Ev1"},
            {"type": "event_callback", "event": {}, "event_id": 7},
            {"type": ["event_callback"]},
            {"type": "app_rate_limited", "minute_rate_limited": 1},
            {**sent.mention("x"), "event_id": None},
            {**sent.mention("x"), "authorizations": "x", "event": None},
            [],
            None,
            "text",
        ],
    )
    def test_a_payload_of_another_shape_is_ignored(self, payload: Any):
        assert isinstance(event(payload), Ignored)

    @pytest.mark.parametrize("authorizations", ["x", [None], [{}], [{"user_id": "(.*"}], {}])
    def test_odd_authorizations_break_nothing(self, authorizations: Any):
        payload = {**sent.mention("whoami"), "authorizations": authorizations}
        assert event(payload).text == "whoami"


def form(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode(), keep_blank_values=True))


FAMILIES = frozenset({"schedule", "help"})


class TestSlash:
    def test_the_command_is_the_first_word_of_the_text(self):
        slash = read_slash(form(sent.slash("list", "https://x.test")), FAMILIES)
        assert slash == Slash("1.2.abc", "U042", "C042", "schedule list", "https://x.test")

    def test_another_name_for_it_stands_for_nothing(self):
        body = sent.slash("schedule list", "", command="/orders")
        assert read_slash(form(body), FAMILIES).text == "schedule list"  # type: ignore[union-attr]

    def test_a_bare_command_is_its_word(self):
        assert read_slash(form(sent.slash("", "")), FAMILIES).text == "schedule"  # type: ignore[union-attr]

    def test_channels_in_it_are_called_as_commands_call_them(self):
        body = sent.slash('add x "0 3 * * *" in &lt;#C042|general&gt;: whoami', "")
        assert "slack:C042" not in read_slash(form(body), FAMILIES).text  # type: ignore[union-attr]
        body = sent.slash('add x "0 3 * * *" in <#C042|general>: whoami', "")
        assert " in slack:C042: " in read_slash(form(body), FAMILIES).text  # type: ignore[union-attr]

    @pytest.mark.parametrize("changed", [{"user_id": ""}, {"channel_id": "x"}, {"user_id": "bob"}])
    def test_one_without_a_person_or_a_channel_is_ignored(self, changed: dict[str, str]):
        assert isinstance(read_slash(form(sent.slash("list", "", **changed)), FAMILIES), Ignored)

    def test_without_an_id_of_its_own_the_form_is_its_id(self):
        ids = [
            read_slash(form(sent.slash(text, "", trigger_id="")), FAMILIES).call_id  # type: ignore[union-attr]
            for text in ("list", "list", "show x")
        ]
        assert ids[0] == ids[1] != ids[2]

    def test_an_empty_form_is_ignored(self):
        assert isinstance(read_slash({}, FAMILIES), Ignored)


def button(kind: str, value: str, number: int = 1) -> dict[str, Any]:
    text = {"type": "plain_text", "text": kind}
    return {"type": "button", "action_id": f"{kind}-{number}", "text": text, "value": value}


def post(*buttons: dict[str, Any]) -> dict[str, Any]:
    blocks = [{"type": "actions", "elements": list(buttons)}]
    attachments = [{"fallback": "x", "blocks": blocks}]
    return {"channel": "C042", "thread_ts": sent.ROOT, "text": "hi", "attachments": attachments}


def payload(body: bytes) -> str:
    return form(body)["payload"]


class TestPressed:
    def test_it_says_who_pressed_what_where(self):
        body = sent.pressed(post(button("confirm", "ABCDEFGH")), "https://x.test")
        pressed = read_pressed(payload(body))
        assert isinstance(pressed, Pressed)
        assert (pressed.user, pressed.channel, pressed.ts) == ("U042", "C042", sent.ROOT)
        assert (pressed.kind, pressed.value) == ("confirm", "ABCDEFGH")
        assert (pressed.text, pressed.rest, pressed.url) == ("hi", [], "https://x.test")

    def test_the_other_buttons_of_the_message_stay(self):
        made = post(button("fire", "a", 1), button("fire", "b", 2))
        pressed = read_pressed(payload(sent.pressed(made, "", number=1)))
        assert isinstance(pressed, Pressed)
        assert pressed.value == "b"
        (rest,) = pressed.rest
        (element,) = rest["blocks"][0]["elements"]
        assert element["value"] == "a"

    def test_a_message_outside_a_thread_begins_one(self):
        made = {**post(button("fire", "a")), "thread_ts": None}
        pressed = read_pressed(payload(sent.pressed(made, "")))
        assert isinstance(pressed, Pressed)
        assert pressed.ts == "1769990150.000250"

    @pytest.mark.parametrize(
        "said",
        [
            {},
            [],
            None,
            {"type": "view_submission", "view": {}},
            {"type": "block_actions", "actions": []},
            {"type": "block_actions", "actions": "x"},
            {"type": "block_actions", "actions": [{}]},
            {"type": "block_actions", "actions": [7], "user": {"id": "U1"}, "channel": {"id": 1}},
        ],
    )
    def test_a_payload_of_another_shape_is_ignored(self, said: Any):
        assert isinstance(read_pressed(json.dumps(said)), Ignored)

    @pytest.mark.parametrize("text", ["", "{", '{"a":1,"a":2}', "[" * 5000])
    def test_what_is_no_json_is_a_value_error(self, text: str):
        with pytest.raises(ValueError, match=r"."):
            read_pressed(text)
