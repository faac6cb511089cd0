"""Ports for tests: the real stores over sqlite3, and an outside world in memory."""

import pytest

pytest.register_assert_rewrite("tests.support.contracts")
