"""Behind Cloudflare Access nobody is asked for a token: the assertion of each request is enough."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from bot.http.access import HEADER
from bot.http.access_keys import PATH
from tests.browser.conftest import Visit
from tests.browser.visit import Bot, eventually
from tests.runtime.server import Server
from tests.support.rs256 import NEW, OLD, TestKey

AUD = "4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2"


class Team(ThreadingHTTPServer):
    """A team's address: it serves the public keys, and says how often it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Keys)
        self.asked = 0
        self.url = f"http://127.0.0.1:{self.server_port}"

    def assertion(self, email: str, key: TestKey = OLD, **claims: object) -> dict[str, str]:
        """The header that Access adds to a request of that person."""
        now = int(time.time())
        good = {"iss": self.url, "aud": [AUD], "email": email, "iat": now, "exp": now + 3600}
        return {HEADER: key.token({**good, **claims})}


class _Keys(BaseHTTPRequestHandler):
    server: Team

    def do_GET(self) -> None:
        self.server.asked += 1
        body = json.dumps({"keys": [OLD.jwk]}).encode() if self.path == PATH else b""
        self.send_response(200 if body else 404)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def team() -> Iterator[Team]:
    team = Team()
    threading.Thread(target=team.serve_forever, daemon=True).start()
    yield team
    team.shutdown()
    team.server_close()


@pytest.fixture(scope="module")
def guarded_bot(team: Team) -> Iterator[Bot]:
    names = {"ACCESS_TEAM_DOMAIN": team.url, "ACCESS_AUD": AUD, "ADMINS": "web:alice@example.com"}
    server = Server.start(vars=names)
    yield Bot(server)
    server.close()


def test_a_person_is_signed_in_by_their_address_and_stays_so(
    guarded_bot: Bot, team: Team, visit: Visit
) -> None:
    someone = visit(
        guarded_bot, signed_in=False, extra_http_headers=team.assertion("Alice@example.com")
    )
    page = someone.open()
    eventually(page.get_by_text("web:alice@example.com"))
    expect(page.get_by_role("button", name="Add a schedule")).to_have_attribute(
        "aria-disabled", "false"
    )
    someone.context.clear_cookies()
    someone.expected.add(401)
    someone.hurry()
    page.get_by_role("button", name="Add a schedule").click()
    dialog = page.get_by_role("dialog", name="Add a schedule")
    dialog.get_by_label("When").fill("0 3 * * *")
    eventually(dialog.get_by_text("at 03:00 every day"))
    expect(page.get_by_role("dialog", name="Your session has ended")).to_have_count(0)
    assert team.asked == 1


@pytest.mark.parametrize(
    "wrong", [{"key": NEW}, {"aud": ["another"]}, {"iss": "http://evil.test"}, {"exp": 1}], ids=str
)
def test_an_assertion_that_is_not_good_shows_the_way_in(
    guarded_bot: Bot, team: Team, visit: Visit, wrong: dict[str, object]
) -> None:
    headers = team.assertion("alice@example.com", **wrong)
    someone = visit(guarded_bot, signed_in=False, extra_http_headers=headers)
    someone.expected.add(401)
    page = someone.open()
    eventually(page.get_by_label("Token"))
