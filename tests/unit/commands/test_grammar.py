import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.commands.grammar import (
    MAX_TEXT,
    Arg,
    Kind,
    Malformed,
    Parsed,
    Prose,
    bind,
    parse,
    render,
)
from bot.words import Code
from tests.unit.commands.contract import BY_NAME, COMMANDS, Entry


def read(text: str) -> Parsed:
    found = parse(text, COMMANDS)
    assert isinstance(found, Parsed), found
    return found


def malformed(text: str, *, strict: bool = False) -> Malformed:
    found = parse(text, COMMANDS, strict=strict)
    assert isinstance(found, Malformed), found
    return found


def given_args(text: str) -> dict[str, object]:
    """The arguments of a text that are there."""
    return {
        name: value for name, value in read(text).args.items() if value not in (None, [], False)
    }


class TestUsage:
    @pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
    def test_is_the_line_of_the_contract(self, entry: Entry):
        assert entry.syntax.usage(entry.name) == entry.usage


class TestReading:
    def test_a_schedule_with_every_clause(self):
        text = (
            'schedule add nightly-audit "0 3 * * 1-5" in web:ops thread standing '
            "zone Europe/Berlin window 2h "
            "grants agent:run:research, github:issue-write on acme/api: in acme/api: list them"
        )
        assert read(text) == Parsed(
            "schedule add",
            {
                "name": "nightly-audit",
                "cron": "0 3 * * 1-5",
                "channel": "web:ops",
                "thread": "standing",
                "zone": "Europe/Berlin",
                "window": "2h",
                "grants": ["agent:run:research", "github:issue-write on acme/api"],
                "text": "in acme/api: list them",
            },
        )

    def test_what_is_left_out_is_a_key_all_the_same(self):
        assert read('schedule add a "* * * * *" in web:ops: say hi').args == {
            "name": "a",
            "cron": "* * * * *",
            "channel": "web:ops",
            "thread": None,
            "zone": None,
            "window": None,
            "grants": [],
            "text": "say hi",
        }

    def test_clauses_come_in_any_order(self):
        there = read('schedule add a "* * * * *" in web:ops zone UTC thread new grants all: x')
        back = read('schedule add a "* * * * *" grants all thread new zone UTC in web:ops: x')
        assert there == back

    @pytest.mark.parametrize(
        ("text", "name", "args"),
        [
            ("schedule fire nightly", "schedule fire", {"name": "nightly"}),
            ("schedule list", "schedule list", {}),
            ("schedule pause a", "schedule pause", {"name": "a"}),
            (
                'schedule pause a because the API says "no": see #4, zone out',
                "schedule pause",
                {"name": "a", "reason": 'the API says "no": see #4, zone out'},
            ),
            (
                'schedule preview "0 9 * * *" zone Asia/Tokyo',
                "schedule preview",
                {"cron": "0 9 * * *", "zone": "Asia/Tokyo"},
            ),
            (
                "job add stretch every 30m: tell me to stretch",
                "job add",
                {"name": "stretch", "when": "every 30m", "prompt": "tell me to stretch"},
            ),
            (
                "job add tea Daily AT 09:00: tea: now",
                "job add",
                {"name": "tea", "when": "daily at 09:00", "prompt": "tea: now"},
            ),
            (
                "job add once in 45 minutes: x",
                "job add",
                {"name": "once", "when": "in 45 minutes", "prompt": "x"},
            ),
            ("job delete 7", "job delete", {"id": "7"}),
            (
                "mcp add files https://mcp.example.com/sse?a=1:2",
                "mcp add",
                {"name": "files", "url": "https://mcp.example.com/sse?a=1:2"},
            ),
            (
                "skill add pets https://x.org/openapi.json writes",
                "skill add",
                {"name": "pets", "url": "https://x.org/openapi.json", "writes": True},
            ),
            ("config get", "config get", {}),
            ("config get zone", "config get", {"key": "zone"}),
            (
                'config set motd {"a": "b: c", "d": [1, 2]}',
                "config set",
                {"key": "motd", "value": '{"a": "b: c", "d": [1, 2]}'},
            ),
            ("config set zone UTC", "config set", {"key": "zone", "value": "UTC"}),
            ('config set half "of a quote', "config set", {"key": "half", "value": '"of a quote'}),
            (
                "grant add web:alice github:issue-write on acme/*",
                "grant add",
                {"actor": "web:alice", "grant": "github:issue-write on acme/*"},
            ),
            (
                'grant remove web:alice "agent:ship on acme/api"',
                "grant remove",
                {"actor": "web:alice", "grant": "agent:ship on acme/api"},
            ),
            (
                "agent:run research in acme/api: what broke?",
                "agent:run",
                {"role": "research", "repo": "acme/api", "ask": "what broke?"},
            ),
            (
                "agent:ship in acme/api: plan docs/plans/bump deps.md",
                "agent:ship",
                {"repo": "acme/api", "path": "docs/plans/bump deps.md"},
            ),
            ("advisories in acme/api", "advisories", {"repo": "acme/api"}),
            ("confirm K7P2Q9XR", "confirm", {"code": "K7P2Q9XR"}),
            ("whoami", "whoami", {}),
            ("help", "help", {}),
            ("help schedule add", "help", {"command": "schedule add"}),
            ("help job", "help", {"command": "job"}),
        ],
    )
    def test_one_of_each(self, text: str, name: str, args: dict[str, object]):
        assert read(text).name == name
        assert given_args(text) == args

    def test_command_words_and_keywords_in_any_case_values_as_they_are(self):
        assert given_args('Schedule ADD a "* * * * *" IN Web:Ops: Hi') == {
            "name": "a",
            "cron": "* * * * *",
            "channel": "Web:Ops",
            "text": "Hi",
        }

    def test_a_header_may_go_over_several_lines(self):
        text = 'schedule add a "* * * * *"\n  in web:ops\n  zone UTC:\nfirst\n\nsecond'
        assert given_args(text)["text"] == "first\n\nsecond"

    def test_the_header_ends_at_the_first_colon_before_white_space(self):
        assert given_args('schedule add a "* * * * *" in web:x:y:\tz: zz')["channel"] == "web:x:y"

    def test_a_colon_in_quotes_ends_nothing(self):
        args = given_args('schedule add a "0: 9" in "web: x": body')
        assert (args["cron"], args["channel"], args["text"]) == ("0: 9", "web: x", "body")

    def test_a_blank_before_the_colon_is_allowed(self):
        assert given_args("agent:run research in a/b : ask")["repo"] == "a/b"

    def test_a_clause_word_may_be_a_name(self):
        assert given_args("schedule fire zone") == {"name": "zone"}
        assert given_args('schedule add in "* * * * *" in web:x: t')["name"] == "in"

    def test_blanks_around_a_text_do_not_matter(self):
        assert read("  \n whoami \n") == read("whoami")


class TestPlainForms:
    def test_curly_quotes_and_special_blanks_in_the_header(self):
        text = "schedule\u00a0add a “0 9 * * 1–5” in\u202fweb:ops: hi"
        assert given_args(text)["cron"] == "0 9 * * 1-5"

    def test_the_body_is_left_as_it_is(self):
        text = "agent:run research in a/b: “Why” — and\u00a0how?"
        assert given_args(text)["ask"] == "“Why” — and\u00a0how?"

    def test_a_special_blank_after_the_colon_ends_the_header(self):
        assert given_args("agent:run research in a/b:\u00a0ask")["ask"] == "ask"

    def test_the_rest_of_a_line_is_read_in_plain_forms(self):
        assert given_args("config set motd {“a”: “b—c”}")["value"] == '{"a": "b-c"}'

    def test_a_backslash_keeps_a_curly_quote_inside_quotes(self):
        assert given_args(r'schedule fire "a\“b\\c\"d\n"')["name"] == r'a“b\c"d\n'

    def test_long_dashes_everywhere(self):
        for dash in "‐‑‒–—―−﹘﹣－":
            assert given_args(f"schedule fire a{dash}b") == {"name": "a-b"}


class TestMalformed:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("schedule fire", "NAME is missing"),
            ("schedule fire a b", "ends before 'b'"),
            ("schedule list please", "ends before 'please'"),
            ("schedule fire a: now", "ends before 'now'"),
            ('schedule add a "* * * * *": t', "CHANNEL is missing"),
            ('schedule add a "* * * * *" in web:x', "colon is missing"),
            ('schedule add a "* * * * *" in web:x do it', "colon is missing"),
            ('schedule add a "* * * * *" in web:x:do it', "colon is missing"),
            ('schedule add a "* * * * *" in web:x:', "TEXT is missing"),
            ("schedule add a 0 9 * * * in web:x: t", "double quotes"),
            ("schedule add a @daily in web:x: t", "double quotes"),
            ("schedule preview 0 9 * * *", 'such as "0 9 * * 1-5"'),
            ('schedule add a "* * * * * in web:x: t', "never closed"),
            ('schedule add a "* * * * *"in web:x: t', "closing quote"),
            ('schedule add a"b "* * * * *" in web:x: t', "inside"),
            ('schedule add a "* * * * *" in web:x in web:y: t', "'in' is there twice"),
            ('schedule add a "* * * * *" in web:x zon UTC: t', "Did you mean zone?"),
            ('schedule add a "* * * * *" in web:x maybe: t', "is no clause"),
            ('schedule add a "* * * * *" in web:x "zone" UTC: t', "is no clause"),
            ('schedule add a "* * * * *" in web:x zone: t', "'zone' has no ZONE"),
            ('schedule add a "* * * * *" in zone UTC: t', "'in' has no CHANNEL"),
            ('schedule add a "* * * * *" in web:x grants: t', "'grants' has no G"),
            ('schedule add a "* * * * *" in web:x grants a,,b: t', "commas"),
            ('schedule add a "* * * * *" in web:x grants a,: t', "commas"),
            ("schedule pause a because", "'because' has no REASON"),
            ("schedule pause a because x\nschedule fire a", "one line"),
            ('schedule fire ""', "NAME is missing"),
            ("config set zone", "VALUE is missing"),
            ("config set zone UTC\nconfig set a b", "one line"),
            ("job add a whenever: x", "daily at 09:00 or in 45 minutes"),
            ("job add a every 30m or so: x", "is not one of"),
            ("job add a: x", "every 30m|every 2h|daily at 09:00|in 45 minutes is missing"),
            ("agent:ship in a/b: docs/plan.md", "comes plan PATH"),
            ("agent:ship in a/b: plan", "PATH is missing"),
            ("agent:ship in a/b: plan x\ny", "one line"),
            ("agent:run in a/b: x", "is no clause"),
            ("skill add a https://x.org writes writes", "twice"),
            ("confirm", "CODE is missing"),
            ("confirm A B", "ends before 'B'"),
            ("whoami please", "ends before"),
            ("advisories acme/api", "is no clause"),
        ],
    )
    def test_says_what_is_wrong_and_shows_the_usage(self, text: str, says: str):
        found = malformed(text)
        name = max((name for name in BY_NAME if text.startswith(name)), key=len)
        assert says in found.detail
        assert found.usage == BY_NAME[name].usage

    def test_becomes_a_refusal_with_its_usage(self):
        refusal = malformed("schedule fire").refusal
        assert refusal.code is Code.BAD_COMMAND
        assert refusal.detail == "NAME is missing.\nUsage: schedule fire NAME"

    def test_a_text_over_the_bound_is_refused_unread(self):
        found = malformed("prose " + "x" * MAX_TEXT)
        assert "20,006" in found.detail

    def test_a_text_at_the_bound_is_read(self):
        text = "agent:run research in a/b: "
        assert given_args(text + "x" * (MAX_TEXT - len(text)))["role"] == "research"


class TestProse:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "hello there",
            "schedule a meeting with Bob",
            "Schedule: see below",
            "help me fix the tests",
            "help me",
            "help, the build is red",
            "help schedule a meeting",
            "run the tests",
            "run lint on acme/api",
            "run slow tests",
            "job well done",
            "memory leak in acme/api",
            "link the issue to the pull request",
            "grant us a day off",
            "confirm that the build is green",
            "advisories are published weekly, read them",
            "please schedule list",
            "what does schedule add do?",
            "schedules are nice",
            "agent runs are slow",
            "list the dependencies of acme/api: all of them",
        ],
    )
    def test_is_no_command(self, text: str):
        assert parse(text, COMMANDS) == Prose(text)

    @pytest.mark.parametrize(
        ("text", "nearest"),
        [
            ("schedule ad x", "schedule add"),
            ("schedule adds x", "schedule add"),
            ("schedule lsit", "schedule list"),
            ("schedule remobe nightly", "schedule remove"),
            ("schedule add: x", "schedule add"),
            ("shedule add x", "schedule add"),
            ("jobs list", "job list"),
            ("whoam", "whoami"),
            ("hlep", "help"),
            ("agent:rnu x in a/b: c", "agent:run"),
            ("agent:run: x", "agent:run"),
            ("help shcedule add", "help"),
            ("help shcedule", "help"),
            ("schedule frobnicate", "schedule"),
            ("config frob", "config"),
            ("memory frob", "memory"),
        ],
    )
    def test_a_slip_is_a_command_gone_wrong(self, text: str, nearest: str):
        assert malformed(text).usage.startswith(nearest)

    def test_a_family_word_alone_shows_its_family(self):
        found = malformed("Memory")
        assert found.usage == "memory list\nmemory forget ID"

    @pytest.mark.parametrize(
        ("text", "nearest"),
        [
            ("", "help"),
            ("hello there", "help"),
            ("schedule a meeting", "schedule"),
            ("schedule delete nightly", "schedule"),
            ("help me fix the tests", "help"),
            ("confirm that the build is green", "confirm"),
        ],
    )
    def test_where_nothing_is_prose_the_nearest_usage_is_shown(self, text: str, nearest: str):
        found = malformed(text, strict=True)
        assert found.detail
        assert found.usage.startswith(nearest)


class TestBinding:
    def bound(self, command: str, **values: object):
        return bind(command, BY_NAME[command].syntax, values)

    def test_fills_what_is_absent(self):
        assert self.bound("skill add", name="a", url="https://x.org") == {
            "name": "a",
            "url": "https://x.org",
            "writes": False,
        }

    def test_reads_a_number_as_its_digits(self):
        assert self.bound("job delete", id=7) == {"id": "7"}

    def test_puts_a_line_in_its_plain_form(self):
        assert self.bound("schedule pause", name="a", reason=" “so” \n what ") == {
            "name": "a",
            "reason": '"so" what',
        }

    @pytest.mark.parametrize(
        ("name", "values", "says"),
        [
            ("job delete", {}, "ID is missing"),
            ("job delete", {"id": ""}, "ID is missing"),
            ("job delete", {"id": True}, "is a text"),
            ("job delete", {"id": 1.5}, "is a text"),
            ("job delete", {"id": "1", "name": "x"}, "no argument 'name'"),
            ("job add", {"name": "a", "when": "soon", "prompt": "x"}, "is not one of"),
            ("agent:run", {"role": "r", "repo": "a/b", "ask": " \n"}, "ASK is missing"),
            ("skill add", {"name": "a", "url": "b", "writes": "yes"}, "takes no value"),
            (
                "schedule add",
                {"name": "a", "cron": "c", "channel": "d", "text": "t", "grants": "all"},
                "list of texts",
            ),
            (
                "schedule add",
                {"name": "a", "cron": "c", "channel": "d", "text": "t", "grants": [""]},
                "list of texts",
            ),
            ("agent:run", {"role": "r", "repo": "a/b", "ask": "x" * MAX_TEXT}, "over 20,000"),
        ],
    )
    def test_refuses_what_does_not_fit(self, name: str, values: dict[str, object], says: str):
        found = self.bound(name, **values)
        assert isinstance(found, Malformed)
        assert says in found.detail
        assert found.usage == BY_NAME[name].usage


NASTY = st.sampled_from(
    [
        *("“", "”", "’", "—", "\u00a0", '"', "\\", ":", ": ", " ", ",", ", ", "\n", "\t", "\x1f"),
        *("```", "@everyone", "<!channel>", "{", "é", "a", "\u200b"),
        *("in", "zone", "writes", "because", "plan", "grants"),
    ]
)
TEXTS = st.one_of(
    st.text(string.ascii_letters + string.digits, min_size=1, max_size=8),
    st.lists(NASTY, min_size=1, max_size=8).map("".join),
    st.text(min_size=1, max_size=12),
)


def values_for(arg: Arg) -> st.SearchStrategy[object]:
    if arg.kind is Kind.FLAG:
        return st.booleans()
    if arg.kind is Kind.LIST:
        return st.lists(TEXTS, max_size=4)
    if arg.kind is Kind.COMMAND:
        made: st.SearchStrategy[object] = st.sampled_from(sorted(BY_NAME))
    elif arg.forms:
        slot = TEXTS.map(lambda text: "".join(without_no_width(text).split()) or "1")
        made = slot.flatmap(lambda s: st.sampled_from([f"every {s}", f"daily at {s}"]))
    else:
        made = TEXTS
    return st.one_of(st.none(), made) if arg.optional else made


def without_no_width(value: Any) -> Any:
    """A value as a command keeps it: the blanks of no width that posting puts in are no part."""
    if isinstance(value, list):
        return [without_no_width(item) for item in value]
    return value.replace("\u200b", "") if isinstance(value, str) else value


@st.composite
def calls(draw: st.DrawFn) -> tuple[Entry, dict[str, object]]:
    entry = draw(st.sampled_from(COMMANDS))
    return entry, {arg.name: draw(values_for(arg)) for arg in entry.syntax.all_args}


class TestRoundTrip:
    @given(calls())
    @settings(deadline=None, max_examples=500, derandomize=True)
    def test_what_is_rendered_is_read_back(self, call: tuple[Entry, dict[str, object]]):
        entry, values = call
        args = bind(entry.name, entry.syntax, values)
        if isinstance(args, Malformed):
            assert any(
                value == ""
                or not str(value).strip()
                or "\n" in str(value)
                or len(str(value).splitlines()) > 1
                or (isinstance(value, list) and "" in value)
                for value in map(without_no_width, values.values())
            ), args
            return
        kept = {
            arg.name: args[arg.name]
            for arg in entry.syntax.all_args
            if arg.kind in (Kind.WORD, Kind.QUOTED, Kind.LIST, Kind.FLAG)
        }
        assert kept == {name: without_no_width(values[name]) for name in kept}
        text = render(entry.name, entry.syntax, args)
        assert parse(text, COMMANDS) == Parsed(entry.name, args)
        assert render(entry.name, entry.syntax, args) == text

    @given(st.one_of(st.text(max_size=60), st.lists(NASTY, max_size=14).map("".join)), st.data())
    @settings(deadline=None, max_examples=500, derandomize=True)
    def test_any_text_is_read_and_what_is_a_command_stays_that_command(
        self, text: str, data: st.DataObject
    ):
        name = data.draw(st.sampled_from(["", *sorted(BY_NAME)]))
        text = f"{name} {text}"
        found = parse(text, COMMANDS)
        assert isinstance(parse(text, COMMANDS, strict=True), Parsed | Malformed)
        if isinstance(found, Parsed):
            again = render(found.name, BY_NAME[found.name].syntax, found.args)
            assert parse(again, COMMANDS, strict=True) == found

    def test_what_is_simple_is_rendered_as_people_write_it(self):
        text = (
            'schedule add nightly "0 3 * * *" in web:ops thread standing grants '
            "agent:run:research, github:issue-write on acme/api: say hi"
        )
        assert render("schedule add", BY_NAME["schedule add"].syntax, read(text).args) == text
