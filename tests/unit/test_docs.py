"""The documents are true: what they name exists, and what exists is named."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bench.__main__ import PARTS
from bot.commands.all import REGISTRY
from bot.commands.grammar import Parsed
from bot.http import app
from bot.http.health import VERSION
from bot.schedules.row import StoredRow
from bot.words import Code
from scripts import reference

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
RECORDS = sorted((DOCS / "decisions").glob("*.md"))
PLATFORM = {"js", "pyodide", "workers", "_pyodide", "_cloudflare"}
EDGE = {"worker.py", "flow.py", "object.py"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def text_of(page: Path) -> str:
    return page.read_text()


@cache
def prose_of(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^(`{3,}).*?^\1$", "", text_of(page), flags=re.M | re.S)


@cache
def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", prose_of(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links_of(page: Path) -> Iterator[str]:
    for found in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if not re.match(r"[a-z]+:", found):
            yield found


class TestLinks:
    @pytest.mark.parametrize("page", PAGES, ids=name_of)
    def test_each_leads_somewhere(self, page: Path):
        for link in links_of(page):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{name_of(page)} links to {link}"
            if anchor:
                assert anchor in anchors_of(target), f"{name_of(page)} links to {link}"

    def test_every_page_is_in_the_index(self):
        index = DOCS / "README.md"
        linked = {(DOCS / link.partition("#")[0]).resolve() for link in links_of(index)}
        missing = [name_of(page) for page in DOCS.rglob("*.md") if page not in {index, *linked}]
        assert not missing, f"docs/README.md does not link to {missing}"


class TestPaths:
    BASES = (ROOT, SRC, SRC / "bot", ROOT / "tests")
    PATH = re.compile(r"`((?:[\w-]+/)+(?:[\w.-]+\.(?:py|mjs|sql|md|svg|png))?)`")

    @pytest.mark.parametrize("page", [p for p in PAGES if p not in RECORDS], ids=name_of)
    def test_each_file_that_is_named_exists(self, page: Path):
        for path in self.PATH.findall(prose_of(page)):
            if path.startswith(("python_modules/", "plans/")):
                continue
            assert any((base / path).exists() for base in self.BASES), (
                f"{name_of(page)} names {path}"
            )

    @pytest.mark.parametrize("layer", ["simulation", "runtime", "browser"])
    def test_the_matrix_names_every_test_of_the_slow_layers(self, layer: str):
        matrix = text_of(DOCS / "matrix.md")
        for test in (ROOT / "tests" / layer).glob("test_*.py"):
            assert f"`{layer}/{test.name}`" in matrix, f"{test.name} is not in docs/matrix.md"

    def test_the_matrix_names_every_folder_of_unit_tests(self):
        matrix = text_of(DOCS / "matrix.md")
        for folder in {test.parent for test in (ROOT / "tests/unit").rglob("test_*.py")}:
            assert f"`{folder.relative_to(ROOT / 'tests')}/" in matrix, f"{folder.name} is missing"


class TestReference:
    def test_is_what_the_code_says(self):
        fresh = text_of(reference.PAGE) == reference.render()
        assert fresh, "docs/reference.md is not up to date: run python scripts/reference.py"

    def test_names_every_command_route_code_and_variable(self):
        page = text_of(reference.PAGE).replace("\\|", "|")
        names = [command.usage for command in REGISTRY]
        names += [f"{route.method} {route.pattern}" for route in app.ROUTES]
        names += [*Code, *reference.variables()]
        missing = [name for name in names if f"`{name}`" not in page]
        assert not missing

    def test_describes_no_variable_that_is_gone(self):
        assert set(reference.VARIABLES) == set(reference.variables())


class TestStorage:
    def test_names_every_table_and_index(self):
        made = re.compile(r"CREATE (?:UNIQUE )?(?:TABLE|INDEX)(?: IF NOT EXISTS)? (\w+)")
        sources = [*(ROOT / "migrations").glob("*.sql")]
        sources += [SRC / "config_do/documents.py", SRC / "bot/objects.py"]
        sources += [SRC / "schedule_do/firings.py", SRC / "schedule_do/ticks.py"]
        names = {name for source in sources for name in made.findall(source.read_text())}
        assert len(names) > 40
        page = text_of(DOCS / "storage.md")
        missing = sorted(name for name in names if f"`{name}`" not in page)
        assert not missing, f"docs/storage.md says nothing of {missing}"

    def test_names_every_field_of_a_stored_schedule(self):
        page = text_of(DOCS / "storage.md")
        fields = [field.alias or name for name, field in StoredRow.model_fields.items()]
        missing = [field for field in fields if f"`{field}`" not in page]
        assert not missing


class TestOperations:
    def test_names_every_action_of_the_log(self):
        page = text_of(DOCS / "operations.md")
        actions = {
            action
            for source in SRC.rglob("*.py")
            for action in re.findall(r'"action": "(\w+)"', source.read_text())
        }
        assert len(actions) > 10
        missing = sorted(action for action in actions if f"`{action}`" not in page)
        assert not missing, f"docs/operations.md says nothing of {missing}"


class TestExamples:
    SAID = re.compile(r"^say '([^']+)'$", re.M)

    @pytest.mark.parametrize("page", [p for p in PAGES if "say '" in text_of(p)], ids=name_of)
    def test_every_command_in_an_example_is_one(self, page: Path):
        for said in self.SAID.findall(text_of(page)):
            assert isinstance(REGISTRY.parse(said, strict=True), Parsed), said


class TestDecisions:
    def test_are_numbered_without_a_gap(self):
        numbers = [int(record.name[:4]) for record in RECORDS]
        assert numbers == list(range(1, len(numbers) + 1))

    @pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
    def test_each_says_why_what_and_what_of_it(self, record: Path):
        text = text_of(record)
        assert re.match(rf"# {record.name[:4]}\. \S", text)
        heads = re.findall(r"^## (.+)$", text, flags=re.M)
        assert heads == ["Context", "Decision", "Consequence"]


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    package = json.loads((ROOT / "package.json").read_text())
    assert project["version"] == package["version"] == VERSION
    assert VERSION in text_of(ROOT / "CHANGELOG.md")


class TestArchitecture:
    """What docs/architecture.md says of the arrows."""

    def test_no_module_imports_in_a_circle(self):
        graph = {module: _imports(file) for module, file in _modules().items()}
        done: set[str] = set()

        def visit(module: str, path: tuple[str, ...]) -> None:
            assert module not in path, f"a circle: {' → '.join((*path, module))}"
            if module in done:
                return
            for imported in sorted(graph[module] & graph.keys()):
                visit(imported, (*path, module))
            done.add(module)

        for module in sorted(graph):
            visit(module, ())

    def test_the_platform_is_imported_at_the_edge_alone(self):
        for module, file in _modules().items():
            edge = file.parent.name == "cloudflare" or file.name in EDGE
            imported = {name.partition(".")[0] for name in _imports(file)} & PLATFORM
            assert edge or not imported, f"{module} imports {', '.join(imported)}"


@cache
def _modules() -> dict[str, Path]:
    files = {file.relative_to(SRC).with_suffix(""): file for file in SRC.rglob("*.py")}
    return {".".join(path.parts): file for path, file in files.items()}


@cache
def _imports(file: Path) -> set[str]:
    """The modules that a file imports, those for the type checker left out."""
    known = _modules()
    found: set[str] = set()

    def walk(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import):
                found.update(alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                inside = {f"{child.module}.{alias.name}" for alias in child.names}
                found.update(inside & known.keys() or {child.module})
            walk(child)

    walk(ast.parse(file.read_text()))
    return found


class TestPerformance:
    def test_every_part_of_the_bench_has_its_table(self):
        page = text_of(DOCS / "performance.md")
        blocks = dict(re.findall(r"<!-- bench: (\w+) -->\n(.*?)<!-- /bench -->", page, re.S))
        assert set(blocks) == set(PARTS)
        assert all("| measured" in table for table in blocks.values())
