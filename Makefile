# trifuse: `make help` lists the targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
TRAIN  := $(VENV)/.installed-train
LINKS  := .links/trifuse
FOLDERS := encoder indexer ranker worker deploy

.DEFAULT_GOAL := help
.PHONY: help setup train demo test unit check lint pins clean

help:  ## List the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) $(LINKS)  ## Install trifuse and what its tests need into .venv

$(STAMP): requirements/ci.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/ci.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

train: $(TRAIN) $(LINKS)  ## Install torch and what training needs as well (6 GB); the checks and tests want it

$(TRAIN): requirements/train.txt $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/train.txt
	touch $@

# Type checkers can't follow the hook of an editable install; they read these links instead.
$(LINKS):
	mkdir -p $@
	for f in $(FOLDERS); do ln -sfn ../../$$f $@/$$f; done

demo: setup  ## Start real services, load trials, embed, search (DATA=path for real files)
	$(BIN)/trifuse demo $(if $(DATA),--data $(DATA))

check: lint unit  ## Lint, types, import rules, unit tests

lint: train
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(addprefix -p trifuse.,$(FOLDERS))
	$(BIN)/lint-imports

unit: train
	$(BIN)/pytest -q -m "not integration"

test: check  ## Everything: check, then the integration tests on real services
	$(BIN)/pytest -q -m integration --durations 20

pins:  ## Write requirements/ci.txt and train.txt again from pyproject.toml
	uv pip compile --quiet --no-emit-index-url pyproject.toml --extra cpu --extra local --extra trials --extra tune --group dev --universal \
	  --python-version 3.11 --generate-hashes --upgrade -o requirements/ci.txt
	uv pip compile --quiet --no-emit-index-url pyproject.toml --extra cpu --extra train --constraints requirements/ci.txt --universal \
	  --python-version 3.11 --generate-hashes --upgrade -o requirements/train.txt

clean:  ## Remove what the targets made here (downloads stay in the cache)
	rm -rf $(VENV) .links build *.egg-info .mypy_cache .ruff_cache .pytest_cache
