# Everything that CI does is a target here. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
BIN := .venv/bin
# The black-box checks of the contract; they live beside the repository.
ACCEPTANCE ?= ../shared/acceptance
# A process that may keep its bytecode starts three times as fast, and the tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE
# These have a target of their own.
APART := --ignore tests/faults/webhooks --ignore tests/sdk --ignore tests/docs
LOCK := uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11

.PHONY: help
help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup:  ## make .venv from the locked requirements
	@command -v uv >/dev/null || python3 -m pip install -q uv
	uv venv -q --allow-existing --python 3.11 .venv
	uv pip install -q --compile-bytecode --python $(BIN)/python --require-hashes -r requirements-dev.txt
	uv pip install -q --python $(BIN)/python --no-deps -e . -e sdk

.PHONY: dev
dev:  ## run everything on this machine
	$(BIN)/gatepass dev

.PHONY: test
test:  ## the quick tests, on PostgreSQL 18
	$(BIN)/pytest -q -n 2 -m "not slow and not browser" $(APART)

.PHONY: test-15
test-15:  ## every statement on Debian's PostgreSQL 15; `make acceptance` calls the API on it
	GATEPASS_TEST_POSTGRES=15 $(BIN)/pytest -q -n 2 -m "not slow and not browser" tests/domain tests/studio/test_walk.py

.PHONY: slow
slow:  ## the long tests: the state machine, kills, fuzzing; those of webhooks are in webhooks-check
	$(BIN)/pytest -q -n 2 --dist worksteal -m "slow and not browser and not alone" $(APART)
	$(BIN)/pytest -q -m "slow and alone" $(APART)

.PHONY: full
full:  ## the long tests at full size: 300 runs of the model, a minute of eight processes
	GATEPASS_FULL=1 $(MAKE) slow

.PHONY: browser
browser:  ## the pages in a real browser
	$(BIN)/pytest -q -n 2 --dist worksteal -m browser

.PHONY: pictures
pictures:  ## take the pictures of docs/studio anew
	GATEPASS_PICTURES=1 $(BIN)/pytest -q -m browser tests/browser -k studio

.PHONY: acceptance acceptance-15 acceptance-18
acceptance: acceptance-15 acceptance-18  ## the public contract from outside, on PostgreSQL 15 and 18

acceptance-15 acceptance-18: acceptance-%:
	$(BIN)/python -m tests.contract.acceptance --postgres $* $(ACCEPTANCE)

.PHONY: bench
bench:  ## scans a second against bare PostgreSQL, in one run; needs wrk
	$(BIN)/python -m bench.scan

.PHONY: bench-check
bench-check:  ## the same in short, for CI: it fails if the ratios are far from what they were
	$(BIN)/python -m bench.scan --tickets 400000 --rounds 2 --seconds 2 --processes 2 --check 0.6 \
	  --only "bare,connection,token"

.PHONY: bench-growth
bench-growth:  ## from 100,000 to 10 million tickets, from 1 to 10,000 organizations, in one run; 12 GB of disk
	$(BIN)/python -m bench.growth

.PHONY: bench-imports
bench-imports:  ## a million rows of CSV through the studio and a worker: speed, memory, stalls
	$(BIN)/python -m bench.imports

.PHONY: bench-peer
bench-peer:  ## scans a second against pretix, in one run; needs wrk, redis-server, uv
	$(BIN)/python -m bench.peer

.PHONY: webhooks-check
webhooks-check:  ## webhooks in short, for CI: kills at every step, order, bad receivers, speed and fairness
	$(BIN)/pytest -q -n 2 -rP tests/faults/webhooks
	$(BIN)/python -m bench.webhooks --short --check 0.6

.PHONY: webhooks-full
webhooks-full:  ## the same at full size: 200 kills, 10,000 tickets, a million deliveries; half an hour
	GATEPASS_FULL=1 $(BIN)/pytest -q -s tests/faults/webhooks
	$(BIN)/pytest -q tests/worker tests/domain/webhooks
	$(BIN)/python -m bench.webhooks

.PHONY: sdk-check
sdk-check:  ## the SDK: one source, its contract against the service and the fake, bad networks, kills, its wheel
	$(BIN)/python tools/sdk_sync.py --check
	$(BIN)/pytest -q -n 2 --dist worksteal -m "not alone" tests/sdk
	$(BIN)/pytest -q -s -m alone tests/sdk

.PHONY: check
check: check-code check-sql check-openapi check-styles  ## lint, types, imports, migrations, interface description, styles

.PHONY: check-code
check-code:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

.PHONY: check-sql
check-sql:
	$(BIN)/squawk --config .squawk.toml $$(find gatepass -name '*.sql')

.PHONY: check-openapi
check-openapi: tools/node_modules
	REDOCLY_TELEMETRY=off tools/node_modules/.bin/redocly lint docs/openapi.json

.PHONY: check-styles
check-styles: tools/node_modules
	tools/node_modules/.bin/tailwindcss --minify -i tools/studio.css -o .styles.css
	cmp .styles.css gatepass/studio/static/studio.css || (echo "Run make styles and commit."; exit 1)
	rm .styles.css

.PHONY: deploy-check
deploy-check:  ## deploy/: Dockerfile, compose file and systemd units, by their own linters and our tests
	$(BIN)/hadolint deploy/Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(BIN)/compose-lint check -q --skip-suppressed --no-env --config deploy/.compose-lint.yml --fail-on low deploy/compose.yaml
	$(BIN)/pytest -q -m "not slow" tests/deploy

.PHONY: openapi
openapi:  ## write docs/openapi.json anew
	$(BIN)/python -m gatepass.api.openapi > docs/openapi.json

.PHONY: sdk-sync
sdk-sync:  ## make the SDK's synchronous client of its asynchronous one
	$(BIN)/python tools/sdk_sync.py

.PHONY: reference
reference:  ## write the made parts of the reference pages anew, with what the calls are answered now
	GATEPASS_RECORD=1 $(BIN)/pytest -q tests/docs/test_reference.py -k record
	$(BIN)/python -m tools.reference

.PHONY: docs
docs:  ## build the documentation's site into site/
	$(BIN)/python -m tools.site

.PHONY: docs-check
docs-check:  ## the documentation: what is made, links, the site, every code block, the way to the first webhook
	$(BIN)/pytest -q -n 2 --dist loadfile tests/docs --ignore tests/docs/test_first_webhook.py --ignore tests/docs/test_following.py
	$(BIN)/pytest -q -s tests/docs/test_following.py tests/docs/test_first_webhook.py

.PHONY: styles
styles: tools/node_modules  ## build the studio's styles anew
	tools/node_modules/.bin/tailwindcss --minify -i tools/studio.css -o gatepass/studio/static/studio.css

tools/node_modules: tools/package-lock.json
	cd tools && npm ci --silent --no-audit --no-fund
	@touch $@

.PHONY: fix
fix:  ## format, and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: lock
lock:  ## compile the requirements anew, with hashes
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) --extra dev --group dev pyproject.toml -o requirements-dev.txt
	$(LOCK) --group build -o deploy/requirements-build.txt
