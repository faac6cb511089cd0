"""The pages say the sentences of ``bot.words``, and no others."""

from __future__ import annotations

import json
import re

from bot.words import STATE_TEXTS, TEXTS, State
from scripts.texts import module


def test_every_state_has_a_sentence_of_its_own() -> None:
    assert set(STATE_TEXTS) == set(State)
    assert len(set(STATE_TEXTS.values())) == len(State)


def test_the_pages_table_holds_every_state_and_every_code() -> None:
    tables = dict(re.findall(r"export const (\w+) = (\{.*?\n\});\n", module(), re.DOTALL))
    assert json.loads(tables["STATES"]) == STATE_TEXTS
    assert json.loads(tables["CODES"]) == {code: text.title for code, text in TEXTS.items()}
