"""The ports over Cloudflare's platform.

With the object classes, ``bot.worker`` and ``bot.runs.flow`` the only place that imports
``js``, ``pyodide`` or ``workers``. Everything here is thin: it converts and decides nothing.
"""
