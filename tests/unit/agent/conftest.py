"""The demo GitHub, once for the folder; each test has it fresh."""

import pytest

from tests.support.demo_github import DemoGithub


@pytest.fixture(scope="package")
def demo_process():
    with DemoGithub() as demo:
        yield demo


@pytest.fixture
def github(demo_process):
    demo_process.reset()
    return demo_process
