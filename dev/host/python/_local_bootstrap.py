"""The Python side of the host: imports the Worker's main module as production does."""

from __future__ import annotations

import importlib
import inspect
import random
import site
import sys
from types import FunctionType, ModuleType
from typing import Any

from _cloudflare import allow_entropy, import_patch_manager
from pyodide.code import relaxed_call
from pyodide.ffi import JsProxy


def import_main(metadata: str, main_name: str, js_globals: Any) -> dict[str, Any]:
    """Import the main module outside a request and describe its entrypoint classes.

    Raises what the import raises, and TypeError for a raw JavaScript object in a module global.
    """
    python_modules = f"{metadata}/python_modules"
    sys.path[:] = [path for path in sys.path if path]
    sys.path.insert(site_packages_position(), python_modules)
    sys.path.append(metadata)
    allow_entropy.refuse()
    import_patch_manager.install()
    site.addsitedir(python_modules)
    main = importlib.import_module(main_name)
    refuse_raw_js_objects(metadata, python_modules, js_globals)
    return {"main": main, "classes": entrypoint_classes(main)}


def site_packages_position() -> int:
    """Return where production puts python_modules: after the standard library, before the rest."""
    return next(i for i, path in enumerate(sys.path) if "site-packages" in path)


def entrypoint_classes(main: ModuleType) -> dict[str, dict[str, Any]]:
    """Return, for each class of the main module's names, the SDK's base class and its methods."""
    import workers

    bases = [workers.DurableObject, workers.WorkerEntrypoint, workers.WorkflowEntrypoint]
    found: dict[str, dict[str, Any]] = {}
    for name in getattr(main, "__all__", dir(main)):
        value = getattr(main, name)
        base = next((b for b in bases if inspect.isclass(value) and issubclass(value, b)), None)
        if base is not None and value is not base:
            found[name] = {"base": base.__name__, "methods": methods(value)}
    return found


def methods(cls: type) -> list[str]:
    """Return the names of the public methods that a class has or inherits."""
    return sorted(
        name
        for name in dir(cls)
        if not name.startswith("_") and isinstance(inspect.getattr_static(cls, name), FunctionType)
    )


def refuse_raw_js_objects(metadata: str, python_modules: str, js_globals: Any) -> None:
    """Raise TypeError for a module global that the memory snapshot could not hold.

    What JavaScript itself has under a global name survives, since it is looked up again there; any
    other JavaScript object does not.
    """
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if not file.startswith(metadata) or file.startswith(python_modules):
            continue
        for name, value in vars(module).items():
            if isinstance(value, JsProxy) and not js_globals.has(value):
                raise TypeError(
                    f"{module.__name__}.{name} is a raw JavaScript object in a module global: "
                    "production takes a snapshot of memory after the import, and it cannot hold one"
                )


def open_for_requests() -> None:
    """Allow randomness, seeded anew: the first request is here."""
    allow_entropy.allow()
    import_patch_manager.uninstall()
    random.seed()


async def forward(relaxed: bool, instance: Any, name: str, *js_args: Any) -> Any:
    """Call a method of an entrypoint with converted arguments, and convert what it returns."""
    from workers import python_from_rpc, python_to_rpc

    method = getattr(instance, name)
    args = [python_from_rpc(arg) for arg in js_args]
    result = relaxed_call(method, *args) if relaxed else method(*args)
    if inspect.isawaitable(result):
        result = await result
    return python_to_rpc(result)
