"""Import hooks: a context manager runs around the import of a module that was registered for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .allow_entropy import guarded

Hook = Callable[[Any], Any]

_create: dict[str, Hook] = {}
_exec: dict[str, Hook] = {}
_before_first_request: dict[str, Hook] = {}
_guarded: list[tuple[ModuleType, str, Any]] = []


def _registrar(hooks: dict[str, Hook]) -> Callable[..., Any]:
    def register(name: str, hook: Hook | None = None) -> Any:
        def add(hook: Hook) -> Hook:
            hooks[name] = hook
            return hook

        return add if hook is None else add(hook)

    return register


register_create_patch = _registrar(_create)
register_exec_patch = _registrar(_exec)
register_before_first_request = _registrar(_before_first_request)
# No snapshot is taken here: what should happen after one has no place.
register_after_snapshot = _registrar({})


def block_calls(module: ModuleType, *, allowlist: tuple[str, ...] = ()) -> None:
    """Make the module's functions raise outside a request, except those of `allowlist`."""
    for name, value in list(vars(module).items()):
        if callable(value) and not name.startswith("_") and name not in allowlist:
            _guarded.append((module, name, value))
            setattr(module, name, guarded(f"{module.__name__}.{name}", value))


class _HookedLoader(Loader):
    def __init__(self, name: str, loader: Loader) -> None:
        self._name, self._loader = name, loader

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._loader, attribute)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        with _context(_create, self._name, spec):
            return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        with _context(_exec, self._name, module):
            self._loader.exec_module(module)


def _context(hooks: dict[str, Hook], name: str, value: Any) -> AbstractContextManager[Any]:
    return hooks[name](value) if name in hooks else nullcontext()


class _HookedFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _create and fullname not in _exec:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _HookedLoader(fullname, spec.loader)
        return spec


_finder = _HookedFinder()


def install() -> None:
    """Run the hooks for every import from here on."""
    import random

    block_calls(random, allowlist=("Random", "SystemRandom"))
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Take hooks and guards away: a request is here."""
    sys.meta_path.remove(_finder)
    for module, name, value in _guarded:
        setattr(module, name, value)
    for name, hook in _before_first_request.items():
        if name in sys.modules:
            hook(sys.modules[name])
