import json
from typing import Any

import pytest

from bot.ports import Settings
from bot.settings import read_settings


def read(**variables: str) -> Settings:
    return read_settings(variables.get)


def test_nothing_set_denies_and_keeps_the_defaults():
    assert read() == Settings()
    assert read(WEB_CHANNELS="", SLACK_API_URL=" ", ADMINS=",", INGRESS_TOKENS="") == Settings()


def test_every_variable_reaches_its_setting():
    names = [
        *("CRON_TOKEN", "INTERNAL_KEY", "SESSION_KEY", "MODEL_BASE_URL", "MODEL_API_KEY", "MODEL"),
        *("GITHUB_API_URL", "GITHUB_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_BOT_TOKEN"),
        *("SLACK_API_URL", "TELEGRAM_BOT_TOKEN", "TELEGRAM_WEBHOOK_SECRET", "TELEGRAM_API_URL"),
        *("ACCESS_TEAM_DOMAIN", "ACCESS_AUD", "SEAL_KEY"),
    ]
    settings = read(**{name: f" value of {name}\n" for name in names})
    assert {name: getattr(settings, name.lower()) for name in names} == {
        name: f"value of {name}" for name in names
    }


@pytest.mark.parametrize(
    ("value", "allowed"), [("true", True), (" True ", True), ("1", False), ("", False)]
)
def test_private_addresses_are_refused_unless_it_says_true(value: str, allowed: bool):
    assert read(ALLOW_PRIVATE_ADDRESSES=value).allow_private_addresses is allowed


def test_a_base_address_ends_without_a_slash():
    assert read(MODEL_BASE_URL="http://127.0.0.1:1/v1/").model_base_url == "http://127.0.0.1:1/v1"


def test_tokens_are_by_subject():
    settings = read(INGRESS_TOKENS='{"ci": "one", "a.b-c@d": "two"}')
    assert settings.ingress_tokens == {"ci": "one", "a.b-c@d": "two"}


@pytest.mark.parametrize(
    "text", ["{", "null", "[]", '"ci"', "ci=one", "{'ci': 'one'}", "[" * 100_000, "9" * 5_000]
)
def test_malformed_tokens_are_no_tokens(text: str):
    assert read(INGRESS_TOKENS=text).ingress_tokens == {}


@pytest.mark.parametrize(
    ("subject", "token"),
    [
        ("cron", "one"),
        ("", "one"),
        ("a b", "one"),
        ("a:b", "one"),
        ("é", "one"),
        ("ci", ""),
        ("ci", "  "),
        ("ci", None),
        ("ci", 1),
        ("ci", ["one"]),
    ],
)
def test_a_token_that_cannot_be_given_is_left_out(subject: str, token: Any):
    text = json.dumps({subject: token, "fine": "two"})
    assert read(INGRESS_TOKENS=text).ingress_tokens == {"fine": "two"}


def test_admins_are_a_list():
    assert read(ADMINS=" web:alice , http:ci,,").admins == {"web:alice", "http:ci"}


@pytest.mark.parametrize("name", ["alice", "schedule:nightly", "http:cron", "web:"])
def test_what_cannot_be_an_admin_is_left_out(name: str):
    assert read(ADMINS=f"web:alice,{name}").admins == {"web:alice"}


def test_telegram_members_are_ids_with_blanks_or_commas_between_them():
    members = read(TELEGRAM_MEMBERS=" 500, -1001\t501\n,,-100200 ").telegram_members
    assert members == {"500", "-1001", "501", "-100200"}


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_members_that_are_not_set_are_everybody(text: str):
    assert read(TELEGRAM_MEMBERS=text).telegram_members is None


@pytest.mark.parametrize(
    "name", ["@ada", "0", "-0", "05", "+5", "5.0", "٥", "telegram:5", "--5", "9" * 17, "*", "all"]
)
def test_what_is_no_id_is_left_out_and_lets_nobody_in(name: str):
    assert read(TELEGRAM_MEMBERS=name).telegram_members == frozenset()
    assert read(TELEGRAM_MEMBERS=f"500 {name}").telegram_members == {"500"}


def test_web_channels_are_a_list_in_order():
    assert read(WEB_CHANNELS="ops, general,ops,a/b,c:d").web_channels == ("ops", "general")


def test_settings_are_told_without_their_values(caplog: pytest.LogCaptureFixture):
    read(INGRESS_TOKENS='{"cron": "s3cret"}')
    assert "cron" in caplog.text
    assert "s3cret" not in caplog.text
