"""Names, schemas and answers from outside are made into what every model takes."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.foreign import (
    MAX_ANSWER,
    MAX_SCHEMA,
    argument_name,
    bounded_schema,
    cut,
    described,
    pointed,
    tool_name,
)

TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


class TestNames:
    @pytest.mark.parametrize(
        ("family", "name", "made"),
        [
            ("files", "read", "files__read"),
            ("files", "admin.tools/list", "files__admin_tools_list"),
            ("a-b", "größe", "a-b__gr__e"),
        ],
    )
    def test_a_name_says_its_family(self, family: str, name: str, made: str):
        assert tool_name(family, name, ()) == made

    @given(st.from_regex(r"[a-z0-9][a-z0-9-]{0,62}", fullmatch=True), st.text(max_size=140))
    @settings(deadline=None)
    def test_every_name_is_one_that_models_take(self, family: str, name: str):
        first = tool_name(family, name, ())
        second = tool_name(family, name, {first})
        for made in (first, second):
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", made)
        assert first == tool_name(family, name, ())
        assert second != first or len(first) == 64

    def test_long_names_stay_apart(self):
        assert tool_name("n" * 63, "one", ()) != tool_name("n" * 63, "two", ())

    @given(st.text(max_size=80))
    @settings(deadline=None)
    def test_an_argument_is_a_property_that_models_take(self, name: str):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", argument_name(name))


def test_a_description_is_one_line():
    assert described("Reads\n\x1b[31m a file.\u202e", "x") == "Reads [31m a file."
    assert described("", "fallback") == described(None, "fallback") == "fallback"
    assert len(described("x" * 5000, "")) == 600


def test_a_long_answer_says_what_was_left_out():
    assert cut("x" * MAX_ANSWER) == "x" * MAX_ANSWER
    assert cut("x" * (MAX_ANSWER + 1234)).endswith("\n(1,234 more characters were left out.)")


class TestSchemas:
    def test_a_plain_one_is_kept(self):
        schema = {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Who.", "minLength": 1},
                "kind": {"enum": ["a", "b"], "default": "a"},
                "many": {"type": "array", "items": {"type": ["integer", "null"]}},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
        assert bounded_schema(schema) == schema

    def test_references_are_written_out(self):
        root = {"$defs": {"id": {"type": "string"}}}
        schema = {"properties": {"id": {"$ref": "#/$defs/id"}}, **root}
        assert bounded_schema(schema)["properties"] == {"id": {"type": "string"}}

    def test_one_that_holds_itself_ends(self):
        schema: Any = {"properties": {"next": {"$ref": "#"}, "name": {"type": "string"}}}
        assert bounded_schema(schema)["properties"] == {
            "next": {"properties": {"next": {}, "name": {"type": "string"}}},
            "name": {"type": "string"},
        }

    def test_one_that_doubles_at_each_level_is_bounded(self):
        levels = {
            f"l{n}": {"properties": {k: {"$ref": f"#/d/l{n + 1}"} for k in "ab"}} for n in range(60)
        }
        made = bounded_schema({"$ref": "#/d/l0", "d": levels})
        assert len(json.dumps(made)) <= MAX_SCHEMA

    @pytest.mark.parametrize(
        "reference", ["http://x.example/a", "other.json#/a", "#/nowhere", "#/a/0/b", "#b", "#/a/99"]
    )
    def test_a_reference_to_elsewhere_is_anything(self, reference: str):
        assert bounded_schema({"properties": {"x": {"$ref": reference}}, "a": [1]}) == {
            "type": "object",
            "properties": {"x": {}},
        }

    def test_nullable_becomes_a_type(self):
        made = bounded_schema({"properties": {"x": {"type": "string", "nullable": True}}})
        assert made["properties"]["x"] == {"type": ["string", "null"]}

    def test_an_array_has_items(self):
        assert bounded_schema({"properties": {"x": {"type": "array"}}})["properties"] == {
            "x": {"type": "array", "items": {}}
        }

    @pytest.mark.parametrize(
        "odd",
        [
            {"type": "file"},
            {"type": 5},
            {"enum": "abc"},
            {"enum": []},
            {"minimum": "1"},
            {"maximum": 1e999},
            {"minLength": True},
            {"pattern": "("},
            {"anyOf": {}},
            {"not": {"type": "string"}},
            {"default": {"deep": 1}},
            {"properties": [], "required": ["x"]},
        ],
    )
    def test_what_breaks_its_own_keyword_is_left_out(self, odd: Any):
        assert bounded_schema({"properties": {"x": odd}})["properties"] == {"x": {}}

    def test_properties_that_no_model_takes_are_left_out(self):
        schema = {"properties": {"ok": {}, "not ok": {}}, "required": ["ok", "not ok", "gone"]}
        assert bounded_schema(schema) == {
            "type": "object",
            "properties": {"ok": {}},
            "required": ["ok"],
        }

    def test_a_big_one_loses_its_descriptions_first(self):
        properties = {f"p{n}": {"type": "string", "description": "x" * 200} for n in range(30)}
        assert bounded_schema({"properties": properties})["properties"] == {
            name: {"type": "string"} for name in properties
        }

    def test_a_huge_one_keeps_its_names(self):
        properties = {f"p{n}": {"enum": ["y" * 90]} for n in range(40)}
        assert bounded_schema({"properties": properties})["properties"] == {
            name: {} for name in properties
        }

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.sampled_from(["#"]),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        ["type", "properties", "items", "anyOf", "$ref", "enum", "required", "a b"]
                    ),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=30,
        )
    )
    @settings(deadline=None, max_examples=300)
    def test_anything_becomes_a_schema_of_an_object(self, value: Any):
        made = bounded_schema(value)
        text = json.dumps(made, allow_nan=False)
        assert len(text) <= MAX_SCHEMA
        assert made["type"] == "object"
        assert isinstance(made["properties"], dict)
        check_types(made)


def check_types(node: Any) -> None:
    """Every type in a schema is one of JSON Schema's."""
    if isinstance(node, dict):
        kind = node.get("type", "object")
        assert set([kind] if isinstance(kind, str) else kind) <= TYPES
        for name, child in node.items():
            inner = child.values() if name == "properties" else [child]
            for each in inner:
                check_types(each) if name in ("properties", "items") else None


def test_a_pointer_reads_its_escapes():
    assert pointed({"a/b": {"c~d": {"e f": 1}}}, "#/a~1b/c~0d/e%20f") == 1
