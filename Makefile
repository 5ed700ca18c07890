# Needs only Python 3.11 or newer, git and make. Run `make` for the list of targets.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif
PY := $(BIN)/python
STAMP := .venv/.stamp

.PHONY: help venv demo test test-clients test-page acceptance check format docs bench coverage clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile

venv: $(STAMP) ## set up .venv (every other target does so by itself)

# `pyproject.toml` newer than the stamp means that dependencies or entry points may have changed.
$(STAMP): pyproject.toml
	@python=""; \
	for name in $$PYTHON python3.11 python3 python3.12 python3.13 python3.14 python; do \
	  if "$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	  then python="$$name"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "backstory needs Python 3.11 or newer with the venv module, and none is on PATH." >&2; \
	  echo "Install it (on Debian or Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	echo "Setting up .venv with $$("$$python" --version)" && \
	{ "$(PY)" -c 'import pip' >/dev/null 2>&1 || "$$python" -m venv .venv; } && \
	"$(PY)" -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[dev]' && \
	touch "$@"

demo: $(STAMP) ## show backstory at work in a throw-away project
	@"$(PY)" tools/demo.py

test: $(STAMP) ## run the whole test suite
	@"$(PY)" -m pytest -n auto

test-clients: $(STAMP) ## install Claude Code and Codex from npm, and test our hooks in them
	@"$(PY)" tools/test_clients.py

test-page: $(STAMP) ## test the page in a browser (Playwright, Chromium, axe-core)
	@"$(PY)" tools/test_page.py

acceptance: $(STAMP) ## run the acceptance tests and write docs/acceptance.md from the run
	@"$(PY)" tools/acceptance.py

check: $(STAMP) ## run every gate: format, lint, types, layers, shape, docs, dependencies
	@"$(PY)" tools/check.py

format: $(STAMP) ## format the code and apply the safe lint fixes
	@"$(PY)" -m ruff check --fix-only --quiet .
	@"$(PY)" -m ruff format .

docs: $(STAMP) ## write the generated parts of the documentation anew
	@"$(PY)" tools/check.py --write-docs

bench: $(STAMP) ## measure the budgets
	@"$(PY)" -m benchmarks

# The bar is 100 % where a fault loses or leaks memory, and 90 % elsewhere.
coverage: $(STAMP) ## run the suite under coverage and hold it to its bars
	@"$(PY)" -m coverage erase
	@"$(PY)" -m coverage run -m pytest -n auto -q
	@"$(PY)" -m coverage combine --quiet
	@"$(PY)" -m coverage report --fail-under=90
	@"$(PY)" -m coverage report --fail-under=100 --include='src/backstory/records/*,src/backstory/log/*,src/backstory/recall/live.py,src/backstory/project/gateway*'

clean: ## remove .venv, build output and caches
	rm -rf .venv build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
