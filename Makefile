# The project's commands. `make run` and `make test` need Python 3.11 or newer, Node 20 or newer (it
# brings Node 22 along) and the package registries; everything lands in this folder.
PYTHON ?= python3
ARGS ?=

VENV := .venv/bin/python
INSTALLED := .venv/.installed node_modules/.installed

# What the browser tests and the screenshots need besides: a browser and its driver.
BROWSER := .venv/.browser tests/browser/node_modules/.installed

.PHONY: install vendor browser run test lint format bench screenshots clean

install: $(INSTALLED)

.venv/.installed: pyproject.toml dev/requirements.py
	$(PYTHON) -m venv .venv
	$(VENV) dev/requirements.py | $(VENV) -m pip install --quiet --disable-pip-version-check -r /dev/stdin
	touch $@

node_modules/.installed: package.json package-lock.json .npmrc
	npm ci --no-fund --no-audit --loglevel=error
	touch $@

.venv/.browser: .venv/.installed
	$(VENV) dev/requirements.py browser | $(VENV) -m pip install --quiet --disable-pip-version-check -r /dev/stdin
	touch $@

tests/browser/node_modules/.installed: tests/browser/package.json tests/browser/package-lock.json
	npm ci --prefix tests/browser --no-fund --no-audit --loglevel=error
	touch $@

# What is not in the tree: python_modules/ for the Worker, public/assets/ for the pages.
vendor: $(INSTALLED)
	$(VENV) dev/vendor.py
	$(VENV) scripts/texts.py
	node_modules/.bin/node scripts/web.mjs

browser: $(BROWSER)

run: vendor
	exec node_modules/.bin/node dev/run.mjs $(ARGS)

test: vendor browser
	$(VENV) -m pytest

lint: install
	$(VENV) -m ruff format --check
	$(VENV) -m ruff check
	node_modules/.bin/node node_modules/pyright/index.js

format: install
	$(VENV) -m ruff format
	$(VENV) -m ruff check --fix

bench: vendor browser
	$(VENV) -m bench $(ARGS)

# Takes the pictures in docs/images/ anew.
screenshots: vendor browser
	$(VENV) scripts/screenshots.py

# The state in .local/ is data, and stays.
clean:
	rm -rf .venv node_modules tests/browser/node_modules python_modules public/assets web/generated .cache .wrangler .pytest_cache .ruff_cache
