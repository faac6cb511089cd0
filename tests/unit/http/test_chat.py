from __future__ import annotations

from typing import Any

import pytest

from bot.dispatch.handback import render_handback
from bot.ports import Fault
from bot.runs import ledger
from bot.words import State
from tests.support.drive import run
from tests.unit.http.client import Answer, Client, office


def say(client: Client, text: str = "good morning", **body: Any) -> Answer:
    return client.post("/api/chat", {"channel": "web:general", "text": text, **body})


def end(client: Client, run_id: str, output: str = "done") -> None:
    now_ms = client.house.clock.now_ms()
    done = ledger.finish(
        client.house.db, run_id, state=State.OK, code=None, output=output, now_ms=now_ms
    )
    assert run(done)


def read(client: Client, thread: str, query: str = "", **more: Any) -> Answer:
    return client.get(f"/api/threads/{thread.replace('/', '%2F')}{query}", **more)


def test_the_web_channels_are_listed_in_the_order_of_the_configuration() -> None:
    answer = office(settings={"web_channels": ("ops", "general")}).signed_in()
    assert answer.get("/api/channels").json == {
        "channels": [
            {"id": "web:ops", "name": "ops", "can_open_threads": True},
            {"id": "web:general", "name": "general", "can_open_threads": True},
        ]
    }


def test_saying_something_opens_a_thread_and_starts_a_run_as_the_person() -> None:
    browser = office().signed_in()
    answer = say(browser, "\n  whoami please  \nand more")
    assert answer.status == 202
    thread, run_id = answer.json["thread"], answer.json["run_id"]
    assert thread.startswith("web:general/")
    assert browser.house.engine.started == [run_id]
    made = run(ledger.get(browser.house.db, run_id))
    assert made is not None
    assert (made.actor, made.source, made.thread, made.channel) == (
        "web:ci",
        "message",
        thread,
        "web:general",
    )
    assert "agent:run:research" in [str(grant) for grant in made.grants]
    shown = read(browser, thread).json
    assert shown["title"] == "whoami please"
    assert [(each["author"], each["id"], each["run_id"]) for each in shown["messages"]] == [
        ("web:ci", answer.json["message_id"], run_id)
    ]
    assert shown["messages"][0]["text"] == "\n  whoami please  \nand more"
    assert shown["live"]["id"] == run_id


def test_saying_more_goes_into_the_thread_once_its_run_has_ended() -> None:
    browser = office().signed_in()
    first = say(browser).json
    end(browser, first["run_id"])
    second = say(browser, "again", thread=first["thread"])
    assert second.status == 202
    assert second.json["thread"] == first["thread"]
    texts = [each["text"] for each in read(browser, first["thread"]).json["messages"]]
    assert texts == ["good morning", "again"]


def test_a_busy_thread_refuses_and_nothing_is_posted() -> None:
    browser = office().signed_in()
    first = say(browser).json
    before = read(browser, first["thread"]).json
    answer = say(browser, "hurry", thread=first["thread"])
    assert (answer.status, answer.code) == (409, "thread_busy")
    assert read(browser, first["thread"]).json == before
    assert browser.house.engine.started == [first["run_id"]]


@pytest.mark.parametrize("new", [True, False], ids=["a new thread", "a thread"])
def test_where_the_post_cannot_be_written_the_retry_is_the_only_run(new: bool) -> None:
    browser = office().signed_in()
    where = {} if new else {"thread": say(browser).json["thread"]}
    for row in browser.house.db.sql("SELECT id FROM runs"):
        end(browser, row["id"])
    begun = list(browser.house.engine.started)
    batch, down = browser.house.db.batch, True

    async def broken(statements: Any) -> Any:
        if down and any("INSERT INTO messages" in each.sql for each in statements):
            raise Fault("down")
        return await batch(statements)

    browser.house.db.batch = broken
    assert say(browser, "once", **where).status == 503
    failed, live = run(ledger.unfinished(browser.house.db)), browser.house.engine.started
    assert (failed, live) == ([], begun)
    assert browser.house.db.sql("SELECT state, code FROM runs WHERE text = 'once'") == [
        {"state": "failed", "code": "interrupted"}
    ]
    down = False
    answer = say(browser, "once", **where)
    assert answer.status == 202
    assert browser.house.engine.started == [*begun, answer.json["run_id"]]
    shown = read(browser, answer.json["thread"]).json["messages"]
    assert [each["text"] for each in shown].count("once") == 1


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 20_001, "a\0b"])
def test_a_bad_text_is_refused_and_starts_nothing(text: str) -> None:
    browser = office().signed_in()
    answer = say(browser, text)
    assert (answer.status, answer.code) == (422, "bad_text")
    assert browser.house.db.sql("SELECT * FROM runs") == []
    assert browser.house.db.sql("SELECT * FROM threads") == []


def test_a_text_of_4000_characters_is_taken() -> None:
    assert say(office().signed_in(), "x" * 4000).status == 202


@pytest.mark.parametrize("channel", ["general", "web:nosuch", "slack:C1", "http:ci", "", "web:"])
def test_only_a_web_channel_that_exists_can_be_spoken_in(channel: str) -> None:
    answer = say(office().signed_in(), channel=channel)
    assert (answer.status, answer.code) == (422, "no_channel")


@pytest.mark.parametrize("place", ["web:general/nosuch", "web:ops/", "nosuch", "http:ci/x"])
def test_a_thread_that_is_not_there_is_not_made(place: str) -> None:
    browser = office().signed_in()
    answer = say(browser, thread=place)
    assert (answer.status, answer.code) == (404, "not_found")
    assert browser.house.engine.started == []


def test_a_thread_of_another_channel_is_not_there() -> None:
    browser = office().signed_in()
    thread = say(browser, channel="web:ops").json["thread"]
    assert say(browser, thread=thread).code == "not_found"


def test_where_the_engine_does_not_answer_the_message_stands_and_the_watchdog_starts_it() -> None:
    browser = office().signed_in()

    async def hook(point: str) -> None:
        if point == "engine.start":
            raise Fault("down")

    browser.house.engine.pause = hook
    answer = say(browser)
    assert answer.status == 202
    assert read(browser, answer.json["thread"]).json["live"]["id"] == answer.json["run_id"]


def threads_of(browser: Client, query: str = "") -> list[str]:
    answer = browser.get(f"/api/threads{query}")
    assert answer.status == 200
    return [each["title"] for each in answer.json["threads"]]


def test_threads_come_with_the_last_changed_first_and_page_without_a_gap() -> None:
    browser = office().signed_in()
    keys: list[str] = []
    for number in range(6):
        channel = "web:ops" if number == 3 else "web:general"
        keys.append(say(browser, f"thread {number}", channel=channel).json["thread"])
        if number % 2:
            browser.house.clock.advance(seconds=1)
    assert len(threads_of(browser)) == 6
    assert threads_of(browser, "?channel=web:ops") == ["thread 3"]
    seen: list[str] = []
    query = "?limit=2"
    while page := browser.get(f"/api/threads{query}").json["threads"]:
        assert len(page) <= 2
        seen += [each["key"] for each in page]
        query = f"?limit=2&before={seen[-1]}"
    assert sorted(seen) == sorted(keys)
    assert seen == [each["key"] for each in browser.get("/api/threads").json["threads"]]
    first = keys[0]
    run_id = browser.house.db.sql("SELECT id FROM runs WHERE thread = ?", first)[0]["id"]
    end(browser, run_id)
    browser.house.clock.advance(seconds=1)
    say(browser, "again", thread=first)
    assert threads_of(browser)[0] == "thread 0"


def test_a_thread_that_one_may_not_read_is_no_place_in_the_list() -> None:
    browser = office().signed_in()
    say(browser)
    answer = browser.get("/api/threads?before=web:@bob/jobs")
    assert (answer.status, answer.code) == (404, "not_found")


def test_a_thread_in_the_list_says_whether_it_is_live() -> None:
    browser = office().signed_in()
    made = say(browser).json
    assert [each["live"] for each in browser.get("/api/threads").json["threads"]] == [True]
    end(browser, made["run_id"])
    assert [each["live"] for each in browser.get("/api/threads").json["threads"]] == [False]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?channel=web:nosuch", "no_channel"),
        ("?limit=0", "bad_value"),
        ("?limit=101", "bad_value"),
        ("?limit=x", "bad_value"),
        ("?channel=web:ops&channel=web:general", "bad_request"),
    ],
)
def test_a_bad_query_for_threads_is_refused(query: str, code: str) -> None:
    assert office().signed_in().get(f"/api/threads{query}").code == code


def talk(browser: Client, count: int) -> str:
    """A thread with that many messages, ``m1`` first."""
    thread = say(browser, "m1").json["thread"]
    surface = browser.house.channels["web"]
    for number in range(2, count + 1):
        run(surface.post(thread, f"m{number}", key=f"k{number}", now_ms=1))
    return thread


def test_messages_come_oldest_first_and_page_both_ways() -> None:
    browser = office().signed_in()
    thread = talk(browser, 7)

    def page(query: str) -> tuple[list[str], bool, list[int]]:
        shown = read(browser, thread, query).json
        messages = shown["messages"]
        return [m["text"] for m in messages], shown["more"], [m["seq"] for m in messages]

    texts, more, seqs = page("?limit=3")
    assert (texts, more) == (["m5", "m6", "m7"], True)
    assert page(f"?limit=3&before={seqs[0]}")[:2] == (["m2", "m3", "m4"], True)
    assert page(f"?after={seqs[0]}")[:2] == (["m6", "m7"], False)
    assert page(f"?after={seqs[0]}&limit=1")[:2] == (["m6"], True)
    assert page(f"?after={seqs[-1]}")[:2] == ([], False)
    assert page("?after=0&limit=2")[:2] == (["m1", "m2"], True)
    assert page("")[:2] == ([f"m{n}" for n in range(1, 8)], False)


def test_a_thread_that_has_not_changed_is_a_304() -> None:
    browser = office().signed_in()
    made = say(browser).json
    first = read(browser, made["thread"])
    etag = first.headers["etag"]
    again = read(browser, made["thread"], headers={"If-None-Match": etag})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
    assert read(browser, made["thread"], headers={"If-None-Match": f'W/{etag}, "x"'}).status == 304
    assert read(browser, made["thread"], headers={"If-None-Match": '"other"'}).status == 200
    end(browser, made["run_id"])
    ended = read(browser, made["thread"], headers={"If-None-Match": etag})
    assert ended.status == 200
    assert ended.json["live"] is None


@pytest.mark.parametrize("key", ["nosuch", "web%3Ageneral%2Fnosuch", "%2e%2e", "x" * 9000])
def test_a_thread_that_is_not_there_is_not_found(key: str) -> None:
    answer = office().signed_in().get(f"/api/threads/{key}")
    assert (answer.status, answer.code) == (404, "not_found")
    assert len(answer.body) < 1000


def test_markup_in_a_message_is_kept_as_text() -> None:
    browser = office().signed_in()
    text = "<script>alert(1)</script> @channel **bold**"
    thread = say(browser, text).json["thread"]
    shown = read(browser, thread)
    assert shown.headers["content-type"].startswith("application/json")
    assert shown.json["messages"][0]["text"] == text


def post_outcome(client: Client, run_id: str, thread: str, text: str, **ended: Any) -> None:
    """What a run's last steps do: end it, and post its outcome."""
    house, now_ms = client.house, client.house.clock.now_ms()
    values = {"state": State.OK, "code": None, "output": text, "route": "explicit", **ended}
    assert run(ledger.finish(house.db, run_id, now_ms=now_ms, **values))
    run(house.channels["web"].post(thread, text, key=f"{run_id}-out", now_ms=now_ms))


def test_an_outcome_is_shown_with_how_its_run_ended() -> None:
    browser = office().signed_in()
    made = say(browser).json
    post_outcome(browser, made["run_id"], made["thread"], "You are web:ci.")
    said, answered = read(browser, made["thread"]).json["messages"]
    assert said["outcome"] is None
    assert answered["outcome"] == {
        "run_id": made["run_id"],
        "actor": "web:ci",
        "route": "explicit",
        "state": "ok",
        "code": None,
        "handback": None,
    }


@pytest.mark.parametrize("code", ["handed_back", "schedule_write"])
def test_a_handback_is_shown_apart_from_its_words(code: str) -> None:
    browser = office().signed_in()
    made = say(browser).json
    confirm = "ABCD2345" if code == "handed_back" else None
    text = render_handback("schedule add x: <!channel>", confirm)
    ended = {"state": State.REFUSED, "code": code}
    post_outcome(browser, made["run_id"], made["thread"], text, **ended)
    outcome = read(browser, made["thread"]).json["messages"][-1]["outcome"]
    assert outcome["handback"] == {"command": "schedule add x: <!channel>", "code": confirm}


def test_an_answer_that_looks_like_a_handback_is_none() -> None:
    browser = office().signed_in()
    made = say(browser).json
    text = render_handback("config set zone Mars", "ABCD2345")
    post_outcome(browser, made["run_id"], made["thread"], text)
    assert read(browser, made["thread"]).json["messages"][-1]["outcome"]["handback"] is None


def test_a_person_cannot_write_an_outcome() -> None:
    browser = office().signed_in()
    made = say(browser, render_handback("x", "ABCD2345")).json
    assert read(browser, made["thread"]).json["messages"][0]["outcome"] is None


def test_the_commands_are_listed_with_how_they_are_written_and_what_they_need() -> None:
    listed = {
        each["name"]: each for each in office().signed_in().get("/api/commands").json["commands"]
    }
    assert listed["schedule pause"]["usage"] == "schedule pause NAME [because REASON]"
    assert listed["schedule pause"]["needs"] == "schedule:write"
    assert listed["help"]["needs"] is None
