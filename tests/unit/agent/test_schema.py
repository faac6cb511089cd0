import pytest

from bot.agent.schema import misfit, read_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer"},
        "state": {"type": "string", "enum": ["open", "closed"]},
        "labels": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "object", "properties": {"flag": {"type": "boolean"}}},
        "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "loose": {"type": ["string", "null"]},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "args",
    [
        {"path": "x"},
        {"path": "x", "line": 3, "state": "open", "labels": ["a"], "deep": {"flag": True}},
        {"path": "x", "line": 3.0},
        {"path": "x", "any": 7, "loose": None},
        {"path": "x", "labels": [], "deep": {"unknown": 1}},
    ],
)
def test_fits(args: object):
    assert misfit(SCHEMA, args) == ""


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({}, "has no path"),
        ({"path": 7}, "path is no string"),
        ({"path": None}, "path is no string"),
        ({"path": "x", "line": "3"}, "line is no integer"),
        ({"path": "x", "line": 3.5}, "line is no integer"),
        ({"path": "x", "line": True}, "line is no integer"),
        ({"path": "x", "state": "shut"}, 'state is none of ["open", "closed"]'),
        ({"path": "x", "labels": ["a", 1]}, "labels[1] is no string"),
        ({"path": "x", "deep": {"flag": 1}}, "flag is no boolean"),
        ({"path": "x", "repo": "acme/api"}, "takes no 'repo'"),
        ([], "is no object"),
    ],
)
def test_says_what_does_not_fit(args: object, says: str):
    assert says in misfit(SCHEMA, args)


def test_a_schema_of_a_strangers_that_is_nonsense_fits_everything():
    for schema in ({}, {"type": "frob"}, {"required": 7}, {"properties": []}, {"enum": "x"}):
        assert misfit(schema, {"a": 1}) == ""


def test_goes_only_so_deep():
    schema: dict[str, object] = {"type": "string"}
    value: object = 7
    for _ in range(50):
        schema, value = {"type": "array", "items": schema}, [value]
    assert misfit(schema, value) == ""


def test_reads_an_object_or_says_why_not():
    assert read_arguments('{"a": 1}') == {"a": 1}
    assert read_arguments("") == {}
    for text in ("{", "[]", "null", "7", "[" * 5000, "{'a': 1}"):
        assert isinstance(read_arguments(text), str)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('{"a": 1, "a": 2}', "a key comes twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": "\\ud800"}', "half a character"),
        ("[" * 100_000, "nested"),
        ("[1]", "no JSON object"),
    ],
)
def test_arguments_are_read_as_strictly_as_any_text_from_outside(written: str, says: str):
    read = read_arguments(written)
    assert isinstance(read, str)
    assert says in read
