"""ConfigDO's client: ``bot.ports.ConfigStore`` over an object's RPC door.

All tiers live in one object, named ``documents``. The tick touches it each minute, so that
whoever reads any tier finds a warm isolate, where one object a tier would boot Python for
each; a swap takes a few milliseconds of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from types import MappingProxyType

from bot.objects import Namespace, call, dump
from bot.org import TIER
from bot.ports import Document, Fault, Json, Swap

OBJECT = "documents"
"""The name of the one object: ``env.CONFIG.getByName(OBJECT)``."""

DocumentCache = MutableMapping[str, Document]
_isolate_cache: DocumentCache = {}


class ConfigClient:
    """Documents by tier, over the object's namespace binding.

    The organisation's last document is kept between requests, so that one which has not changed,
    or only by this isolate's own swaps, costs a 304. No other tier is: nothing reads those often,
    and an isolate must not fill up with them. ``entries`` is shared with whoever reads next and
    is read-only: never change a value inside it, make a new one.
    """

    def __init__(self, namespace: Namespace, cache: DocumentCache | None = None):
        self._namespace = namespace
        self._cache = _isolate_cache if cache is None else cache

    async def read(self, tier: str) -> Document:
        """The tier's document; version 0 and no entries where none was written. Raises Fault."""
        cached = self._cache.get(tier)
        asked = "" if cached is None else f"?version={cached.version}"
        status, body = await self._call("GET", f"/documents/{tier}{asked}")
        if status == 304 and cached is not None:
            return cached
        if status != 200:
            raise Fault(f"document {tier}: {status}")
        document = Document(body["version"], MappingProxyType(body["entries"]))
        self._keep(tier, document)
        return document

    async def swap(
        self,
        tier: str,
        expected_version: int,
        changes: Mapping[str, Json],
        *,
        upkeep: bool = False,
    ) -> Swap:
        """Write ``changes`` if the version is still the expected one. Raises Fault."""
        body: dict[str, Json] = {"expectedVersion": expected_version, "changes": dict(changes)}
        if upkeep:
            body["upkeep"] = True
        status, answer = await self._call("PUT", f"/documents/{tier}", body)
        match status:
            case 200:
                self._advance(tier, expected_version, answer["version"], changes)
                return Swap(won=True, version=answer["version"])
            case 409:
                return Swap(won=False, version=answer["version"])
            case 400 | 422:
                return Swap(won=False, version=expected_version, refusal=answer["detail"])
            case _:
                raise Fault(f"swap of {tier}: {status} {answer and answer.get('detail')}")

    async def _call(self, method: str, path: str, value: Json = None) -> tuple[int, Json]:
        return await call(self._namespace.getByName(OBJECT), method, path, value)

    def _advance(
        self, tier: str, expected_version: int, version: int, changes: Mapping[str, Json]
    ) -> None:
        """Bring the kept document up to a swap that was won over it: no need to read it again."""
        cached = self._cache.get(tier)
        if cached is None or cached.version != expected_version:
            return
        merged = {**cached.entries, **json.loads(dump(dict(changes)))}
        entries = {key: merged[key] for key in sorted(merged) if merged[key] is not None}
        self._keep(tier, Document(version, MappingProxyType(entries)))

    def _keep(self, tier: str, document: Document) -> None:
        if tier == TIER:
            self._cache[tier] = document
