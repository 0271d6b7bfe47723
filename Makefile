# `make help` lists the targets. Each sets up what it needs, once, in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The CPU build of PyTorch: on Linux the default one brings several GB of CUDA.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
# Empty (make CONSTRAINTS=) installs the newest versions that pyproject.toml allows.
CONSTRAINTS ?= constraints.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	$(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
NOTEBOOKS := $(wildcard notebooks/*.ipynb)

.PHONY: help book test lab execute train bench address lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

book: $(VENV)/book.done book/node_modules ## build the book into _build/html, from the stored outputs
	$(BIN)/jupyter-book build -W --keep-going --quiet .
	$(BIN)/python tests/check_book.py

test: $(VENV)/test.done book/node_modules ## pass all tests, every notebook included
	$(BIN)/python -m pytest -n auto --dist loadscope --no-loadscope-reorder $(PYTEST_ARGS)

lab: $(VENV)/test.done ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks $(LAB_ARGS)

execute: $(VENV)/test.done ## run every notebook on the real GPT-2 and store its outputs
	$(BIN)/python -m posembed
	POSEMBED_MODEL=gpt2 $(BIN)/jupyter nbconvert --to notebook --inplace --execute \
		--ExecutePreprocessor.record_timing=False --log-level=WARN $(NOTEBOOKS)
	@# What a cell prints may arrive in pieces, cut at random: join them.
	$(BIN)/jupyter nbconvert --to notebook --inplace --log-level=WARN \
		--CoalesceStreamsPreprocessor.enabled=True $(NOTEBOOKS)
	$(BIN)/python book/figure.py

train: $(VENV)/test.done ## train the course's own small model anew, about half an hour
	$(BIN)/python -m posembed.train --resume

bench: $(VENV)/test.done book/node_modules ## measure time and memory as ratios, for the table in the README
	$(BIN)/python tests/bench.py

address: $(VENV)/book.done ## write the repository's public address into chapters and README
	$(BIN)/python book/_ext/address.py

lock: ## pin all dependencies anew in constraints.txt
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet uv
	.venv-lock/bin/uv pip compile pyproject.toml --quiet --upgrade --universal \
		--fork-strategy fewest --python-version 3.11 --group pyproject.toml:test \
		--no-annotate --custom-compile-command "make lock" --output-file constraints.txt
	rm -r .venv-lock

clean: ## remove what the other targets made, .venv included
	rm -rf _build book/node_modules .pytest_cache .ruff_cache .venv .venv-lock

$(VENV)/bin/python:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==25.3

$(VENV)/book.done: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --group book
	touch $@

# What the explorables load: small parts of d3, joined into one script when the book is built.
book/node_modules: book/package.json book/package-lock.json | $(VENV)/book.done
	$(BIN)/npm --prefix book ci --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

$(VENV)/test.done: $(VENV)/book.done
	$(PIP) --no-deps --retries 0 --extra-index-url $(TORCH_INDEX) torch
	$(PIP) --group test --editable .
	touch $@
