"""What the bot remembers for a person: learned, recalled by words and recency, unlearned.

A memory is its owner's alone: every statement names the owner. A full store refuses what is
new, and drops nothing.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from bot.agent.toolkit import Input, read_input, schema_of
from bot.agent.tools import Tool, ToolCall, ToolResult
from bot.agent.untrusted import clean
from bot.ports import Database
from bot.times import iso
from bot.words import Code, Refused

MAX_MEMORIES = 500
MAX_CHARACTERS = 2_000
MAX_RECALLED = 20
MAX_WORDS = 8

_INSERT = """
INSERT INTO memories (id, owner, text, folded, created_at)
SELECT ?1, ?2, ?3, ?4, ?5
WHERE (SELECT count(*) FROM memories WHERE owner = ?2) < ?6
  AND NOT EXISTS (SELECT 1 FROM memories WHERE owner = ?2 AND text = ?3)
ON CONFLICT DO NOTHING
"""
_COLUMNS = "id, text, created_at"
_NEWEST = f"SELECT {_COLUMNS} FROM memories WHERE owner = ? ORDER BY created_at DESC, id LIMIT ?"
_HIT = "(instr(folded, ?) > 0)"

Memory = Mapping[str, Any]
"""``id``, ``text`` and ``created_at`` (epoch milliseconds)."""


async def learn(db: Database, owner: str, text: str, memory_id: str, now_ms: int) -> str | Refused:
    """Keep ``text`` for the owner; the memory's id.

    A text that is known already keeps the id it has. Returns ``bad_text`` for an empty text or
    one over 2,000 characters, ``too_many`` for the 501st. The limit is asked in the insert.
    """
    text = clean(text).strip()
    if not text:
        return Refused(Code.BAD_TEXT, "There is nothing to remember in an empty text.")
    if len(text) > MAX_CHARACTERS:
        return Refused(
            Code.BAD_TEXT,
            f"A memory has at most {MAX_CHARACTERS:,} characters, and this has {len(text):,}. "
            "Say it shorter, or learn it in parts.",
        )
    added = await db.run(_INSERT, memory_id, owner, text, folded(text), now_ms, MAX_MEMORIES)
    if added.changes == 1:
        return memory_id
    known = await db.run("SELECT id FROM memories WHERE owner = ? AND text = ?", owner, text)
    if known.rows:
        return known.rows[0]["id"]
    return Refused(
        Code.TOO_MANY,
        f"There are {MAX_MEMORIES} memories, as many as there may be. Unlearn one that is no "
        "longer needed first.",
    )


async def recall(db: Database, owner: str, words: str, limit: int) -> Sequence[Memory]:
    """The owner's memories that hold any of the words: the most words first, then the newest.

    Case and accents do not count, and a word is found at the start of a longer one (anywhere in
    scripts that part no words). Without words, the newest.
    """
    wanted = [_needle(word) for word in dict.fromkeys(folded(words).split())][:MAX_WORDS]
    if not wanted:
        return (await db.run(_NEWEST, owner, limit)).rows
    hits = " + ".join([_HIT] * len(wanted))
    sql = (
        f"SELECT {_COLUMNS} FROM (SELECT {_COLUMNS}, {hits} AS hits FROM memories WHERE owner = ?)"
        " WHERE hits > 0 ORDER BY hits DESC, created_at DESC, id LIMIT ?"
    )
    return (await db.run(sql, *wanted, owner, limit)).rows


async def every(db: Database, owner: str) -> Sequence[Memory]:
    """All of the owner's memories, newest first."""
    return (await db.run(_NEWEST, owner, MAX_MEMORIES)).rows


async def forget(db: Database, owner: str, memory_id: str) -> bool:
    """Erase one memory of the owner's; False where there is none of that id."""
    gone = await db.run("DELETE FROM memories WHERE id = ? AND owner = ?", memory_id, owner)
    return gone.changes == 1


def folded(text: str) -> str:
    """A text as it is searched: without case and accents, a blank before each of its words."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(each for each in plain if not unicodedata.combining(each))
    words = "".join(each if each.isalnum() else " " for each in kept).split()
    return "".join(f" {word}" for word in words)


def _needle(word: str) -> str:
    return f" {word}" if word.isascii() else word


class Learn(Input):
    """What ``learn`` takes."""

    text: str = Field(description="One fact, in a sentence that can be understood alone.")


class Recall(Input):
    """What ``recall`` takes."""

    words: str = Field("", description="Words to look for; leave out for the newest memories.")
    limit: int = Field(10, ge=1, le=MAX_RECALLED)


class Unlearn(Input):
    """What ``unlearn`` takes."""

    id: str = Field(description="The memory's id, as recall shows it.")


async def _learn(call: ToolCall) -> ToolResult:
    values = read_input(Learn, call.args)
    if isinstance(values, Refused):
        return _no(values)
    made = hashlib.sha256(f"memory {call.key}".encode()).hexdigest()[:20]
    answer = await learn(call.house.db, call.run.actor, values.text, made, call.now_ms)
    if isinstance(answer, Refused):
        return _no(answer)
    return ToolResult(f"Remembered as memory {answer}.")


async def _recall(call: ToolCall) -> ToolResult:
    values = read_input(Recall, call.args)
    if isinstance(values, Refused):
        return _no(values)
    found = await recall(call.house.db, call.run.actor, values.words, values.limit)
    if not found:
        what = f"holds any of {values.words!r}" if values.words.strip() else "is there yet"
        return ToolResult(f"No memory {what}.")
    lines = [f"{each['id']} ({iso(each['created_at'])}): {each['text']}" for each in found]
    return ToolResult("\n".join(lines), untrusted=True)


async def _unlearn(call: ToolCall) -> ToolResult:
    values = read_input(Unlearn, call.args)
    if isinstance(values, Refused):
        return _no(values)
    if await forget(call.house.db, call.run.actor, values.id):
        return ToolResult(f"Memory {values.id} is erased.")
    return ToolResult(f"There is no memory {values.id!r}. See recall.", ok=False)


def _no(refusal: Refused) -> ToolResult:
    return ToolResult(f"{refusal.code}: {refusal.detail}", ok=False)


TOOLS = (
    Tool(
        "learn",
        "Remember something for this person beyond this conversation.",
        schema_of(Learn),
        _learn,
    ),
    Tool(
        "recall",
        "Look up what was remembered for this person, by words or simply the newest.",
        schema_of(Recall),
        _recall,
    ),
    Tool(
        "unlearn",
        "Erase one memory of this person's, by its id.",
        schema_of(Unlearn),
        _unlearn,
    ),
)
