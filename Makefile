# The project's commands. `make run` and `make test` need Python 3.11 or newer, Node 20 or newer (it
# brings Node 22 along) and the package registries; everything lands in this folder.
PYTHON ?= python3
ARGS ?=

VENV := .venv/bin/python
INSTALLED := .venv/.installed node_modules/.installed

.PHONY: install vendor run test lint format bench clean

install: $(INSTALLED)

.venv/.installed: pyproject.toml dev/requirements.py
	$(PYTHON) -m venv .venv
	$(VENV) dev/requirements.py | $(VENV) -m pip install --quiet --disable-pip-version-check -r /dev/stdin
	touch $@

node_modules/.installed: package.json package-lock.json .npmrc
	npm ci --no-fund --no-audit --loglevel=error
	touch $@

vendor: $(INSTALLED)
	$(VENV) dev/vendor.py

run: vendor
	exec node_modules/.bin/node dev/run.mjs $(ARGS)

test: vendor
	$(VENV) -m pytest

lint: install
	$(VENV) -m ruff format --check
	$(VENV) -m ruff check
	node_modules/.bin/node node_modules/pyright/index.js

format: install
	$(VENV) -m ruff format
	$(VENV) -m ruff check --fix

bench: vendor
	$(VENV) -m bench $(ARGS)

# The state in .local/ is data, and stays.
clean:
	rm -rf .venv node_modules python_modules .cache .wrangler .pytest_cache .ruff_cache
