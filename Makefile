# Everything that CI does is a target here. `make help` lists them. After `make setup`, each works by itself.
SHELL := /bin/bash
.DEFAULT_GOAL := help
BIN := .venv/bin
# The folder of the black-box checks of the contract. They are not part of the repository.
ACCEPTANCE ?= $(abspath ../shared/acceptance)
export ACCEPTANCE
# A process that may keep its bytecode starts three times as fast, and the tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE
# At night ratios and times are judged (tests/size.py), and what measures runs alone.
NIGHT := $(filter 1,$(GATEPASS_NIGHT))
TOGETHER := $(if $(NIGHT),-m "not alone")
comma := ,
# What `make card-check` runs, besides the pages.
CARDS := tests/faults/mail tests/wallets tests/worker/test_export_at_size.py
# What `make gate-check` runs: the simulator with its mutants, what a killed gate keeps, journals as a weapon.
GATES := tests/gate tests/sdk/gate
GATES_APART := $(addprefix --ignore ,$(GATES))
# What `make sdk-js-check` runs, besides the unit tests in sdk-js.
SDK_JS := tests/sdk/javascript
# What `make test` runs; tests/starts.py keeps it free of processes. Those of its tests that start some have a marker.
IN_PROCESS := $(addprefix tests/,api base card_page contract domain examples layout studio)
MARKED = $(filter-out $(SCHEMATHESIS),$(shell grep -rl --include='test_*.py' mark.processes $(IN_PROCESS)))
# What `make contract-check` runs.
SCHEMATHESIS := tests/contract/test_schemathesis.py
# What `make test-processes` runs beside those. Other folders have a target of their own.
PROCESSES := $(addprefix tests/,bench cli drills fuzz migrations server warm worker) $(wildcard tests/test_*.py)
LOCK := uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11
# Fails with one line that names the Debian packages which are missing.
need = @missing=$$(tools/missing_packages.sh $(1)) && [ -z "$$missing" ] \
  || { echo "make $@ needs packages that are missing; on Debian: apt install $$missing"; exit 1; }
# What the failing cluster runs, and what builds its PgBouncer.
HA := postgresql-15 etcd haproxy ip iptables envsubst gcc make pkg-config libevent-dev libssl-dev
need_acceptance = @[ -d "$(ACCEPTANCE)" ] \
  || { echo "make $@ needs the acceptance checks, and there is no $(ACCEPTANCE): set ACCEPTANCE to their folder"; exit 1; }

.PHONY: help
help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup:  ## make .venv from the locked requirements
	@command -v uv >/dev/null || python3 -m pip install -q uv \
	  || { echo "make setup needs uv: https://docs.astral.sh/uv/getting-started/installation/"; exit 1; }
	uv venv -q --allow-existing --python 3.11 .venv
	uv pip install -q --compile-bytecode --python $(BIN)/python --require-hashes -r requirements-dev.txt
	uv pip install -q --python $(BIN)/python --no-deps -e . -e sdk

.PHONY: dev
dev:  ## run everything on this machine
	$(BIN)/gatepass dev

.PHONY: test
test:  ## the quick tests, on PostgreSQL 18, without a process of ours: 6 minutes
	$(call need,openssl pdftoppm valkey)
	$(BIN)/pytest -q -n 2 -m "not processes" $(IN_PROCESS)

.PHONY: test-processes
test-processes:  ## the commands, the server, the worker and migrations, as processes
	$(call need,faketime gcc libevent-dev libssl-dev openssl pdftoppm pgbouncer pkg-config postgresql-15 valkey)
	$(BIN)/pytest -q -n 2 --dist worksteal $(TOGETHER) $(PROCESSES) --ignore tests/worker/test_export_at_size.py
	$(BIN)/pytest -q -n 2 --dist worksteal -m "processes$(if $(NIGHT), and not alone)" $(MARKED)
	$(if $(NIGHT),$(BIN)/pytest -q -m alone $(PROCESSES) $(MARKED))

.PHONY: contract-check
contract-check:  ## every call that docs/openapi.json describes, with values that it allows and forbids, by schemathesis
	$(BIN)/pytest -q -n 2 --dist worksteal $(SCHEMATHESIS)

.PHONY: test-15
test-15:  ## every statement on Debian's PostgreSQL 15; `make acceptance-15` calls the API on it
	$(call need,openssl pdftoppm postgresql-15)
	GATEPASS_TEST_POSTGRES=15 $(BIN)/pytest -q -n 2 -m "not processes" tests/domain tests/studio/test_routes.py

.PHONY: affected
affected:  ## what a change since BASE needs, as .ci/run chooses it: `make affected BASE=main`
	$(BIN)/python -m tools.suites submission --base $(or $(BASE),main)

.PHONY: nightly
nightly:  ## every suite at full width, SUITES alone if they are named; hours; goes on where it was broken off
	$(BIN)/python -m tools.suites nightly $(SUITES)

# What faults-check runs: all of tests/faults that has no target of its own.
FAULTS := tests/faults tests/ha --ignore tests/faults/webhooks --ignore tests/faults/mail
.PHONY: faults-check
faults-check:  ## killed processes and servers, cut connections, histories, in short, for CI
	$(call need,valkey pgbouncer gcc pkg-config libevent-dev libssl-dev)
	$(BIN)/pytest -q -n 2 --dist worksteal $(FAULTS)

.PHONY: faults-full
faults-full:  ## the same and the model at full size: 300 runs of the model, a minute of eight processes, all mutants
	$(call need,valkey pgbouncer gcc pkg-config libevent-dev libssl-dev)
	GATEPASS_FULL=1 GATEPASS_NIGHT=1 $(BIN)/pytest -q -n 2 --dist worksteal $(FAULTS) tests/domain/model tests/domain/webhooks/mirror

.PHONY: attacks
attacks:  ## attempts to break in or to bring down, one file a class of attack, against the real stack; some by ATTACKS="api http"
	$(call need,haproxy valkey postgresql-15)
	$(BIN)/pytest -q -n 2 --dist loadfile $(TOGETHER) $(or $(addprefix tests/attacks/,$(ATTACKS)),tests/attacks)
	$(if $(NIGHT),$(if $(or $(findstring http,$(ATTACKS)),$(findstring inputs,$(ATTACKS)),$(if $(ATTACKS),,all)),\
	  $(BIN)/pytest -q -s -m alone $(or $(addprefix tests/attacks/,$(ATTACKS)),tests/attacks)))

.PHONY: attacks-full
attacks-full:  ## the hostile CSV files at full size, 255 MB each: no scan of another organization is delayed
	GATEPASS_FULL=1 GATEPASS_NIGHT=1 $(BIN)/pytest -q -s -m alone tests/attacks/inputs/test_csv_bombs.py

.PHONY: fuzz
fuzz:  ## a million malformed requests and uploads: no fault, no growth, no delay for others; 15 to 30 minutes
	$(BIN)/python -m tests.fuzz --requests 1000000

.PHONY: fuzz-check
fuzz-check:  ## the same in short, for CI: every kind, 8,000 requests; at night up to 100,000 in 40 seconds
	$(BIN)/python -m tests.fuzz $(if $(NIGHT),--requests 100000 --seconds 40 --window 1.5 --drawn 60,--requests 8000 --seconds 1200 --window 0.2 --drawn 60)

.PHONY: pairs
pairs:  ## every two verbs at once, one of them held before each of its statements; hours on a small machine
	GATEPASS_FULL=1 $(BIN)/pytest -q -s tests/domain/locks/test_pairs.py

.PHONY: browser
browser: tools/node_modules  ## the pages in a real browser
	$(call need,chromium-headless-shell)
	$(BIN)/pytest -q -n 2 --dist worksteal -m browser tests/browser --ignore tests/browser/card_page \
	  --ignore tests/browser/scanner

.PHONY: pictures
pictures: tools/node_modules  ## take the pictures of docs/studio and of the scanner's guide again
	$(call need,chromium-headless-shell)
	GATEPASS_PICTURES=1 $(BIN)/pytest -q -m browser tests/browser -k "studio or guide_pictures"

.PHONY: acceptance
acceptance: acceptance-15 acceptance-18  ## the public contract from outside, on PostgreSQL 15 and 18

.PHONY: acceptance-15
acceptance-15:  ## the same on Debian's PostgreSQL 15 only
	$(call need,postgresql-15)
	$(need_acceptance)
	$(BIN)/python -m tests.contract.acceptance --postgres 15 $(ACCEPTANCE)

.PHONY: acceptance-18
acceptance-18:  ## the same on PostgreSQL 18 only
	$(need_acceptance)
	$(BIN)/python -m tests.contract.acceptance --postgres 18 $(ACCEPTANCE)

.PHONY: bench
bench:  ## scans and batches of tickets against bare PostgreSQL, in one run, and what tracing costs; needs wrk
	$(call need,wrk)
	$(BIN)/python -m bench.scan
	$(BIN)/python -m bench.tracing
	$(BIN)/python -m bench.batches

.PHONY: bench-check
bench-check:  ## every scenario once, in short: all is answered, no figure is missing; at night ratios are judged too; needs wrk
	$(call need,wrk)
	$(BIN)/python -m bench.scan $(if $(NIGHT),--tickets 400000 --rounds 2 --seconds 2 --processes 2 --check 0.6 \
	  --only "bare$(comma)connection$(comma)token$(comma)phone$(comma)event",--tickets 50000 --rounds 1 --seconds 1 --processes 1)

.PHONY: bench-against
bench-against:  ## what a call costs, in turn with the code of an earlier commit: COMMIT; needs wrk
	$(call need,git wrk)
	$(BIN)/python -m bench.against $(if $(COMMIT),--commit $(COMMIT))

.PHONY: bench-start
bench-start:  ## CPU and memory of `gatepass serve` until it is ready, in turn with an earlier commit: COMMIT
	$(call need,git)
	$(BIN)/python -m bench.start $(if $(COMMIT),--commit $(COMMIT))

.PHONY: bench-growth
bench-growth:  ## from 100,000 to 10 million tickets, from 1 to 10,000 organizations, in one run; needs wrk, 25 GB of disk, 16 GB of memory
	$(call need,wrk)
	$(BIN)/python -m bench.growth

.PHONY: bench-imports
bench-imports:  ## a million rows of CSV through the studio and a worker: speed against before, memory, stalls
	$(call need,git)
	$(BIN)/python -m bench.imports --against 5a5fe53

.PHONY: bench-live
bench-live:  ## the live page of an event under load: exact, delay, cost to scans; needs wrk
	$(call need,wrk)
	$(BIN)/python -m bench.live

.PHONY: bench-manifest
bench-manifest:  ## manifests: 200,000 tickets in one, 1,000 devices that follow, cost to scans; needs wrk
	$(call need,wrk)
	$(BIN)/python -m bench.manifest

.PHONY: bench-profile
bench-profile:  ## where the time and the WAL of a scenario go; SCENARIO="events, 64" for another one; needs wrk
	$(call need,wrk)
	$(BIN)/python -m bench.profile --scenario "$(or $(SCENARIO),scan, 64 connections)"

.PHONY: bench-servers
bench-servers:  ## what HTTP itself costs: granian and uvicorn in front of the least application; needs wrk
	$(call need,wrk)
	$(BIN)/python -m bench.servers

.PHONY: bench-search
bench-search:  ## the studio's search with a million people and ten million tickets in one organization; needs 12 GB of disk
	$(BIN)/python -m bench.search

.PHONY: bench-peer
bench-peer:  ## scans a second against pretix, in one run; needs wrk, redis-server
	$(call need,wrk redis-server)
	$(BIN)/python -m bench.peer

.PHONY: bench-mail
bench-mail:  ## letters a second against a bare aiosmtplib loop, in one run
	$(BIN)/python -m bench.mail

.PHONY: bench-webhooks
bench-webhooks:  ## webhooks at full size: speed, a million deliveries, latency, fairness; half an hour
	$(BIN)/python -m bench.webhooks

.PHONY: webhooks-check
webhooks-check:  ## webhooks in short, for CI: kills at every step, order, bad receivers, speed and fairness
	$(BIN)/pytest -q -n 2 tests/faults/webhooks
	$(BIN)/python -m bench.webhooks $(if $(NIGHT),--short --check 0.6,--least)

.PHONY: card-check
card-check: tools/node_modules  ## the card in the hand, in short, for CI: three browsers, mail past kills, a PDF read back, passes
	$(call need,chromium-headless-shell exim4 firefox openssl pdftoppm webkit)
	$(BIN)/pytest -q -n 2 --dist loadfile -m browser tests/browser/card_page
	$(BIN)/pytest -q -n 2 --dist loadfile $(CARDS)

.PHONY: card-full
card-full: tools/node_modules  ## the same at full size: 20,000 letters past 50 kills, a PDF of 10,000 cards; and letters a second
	$(call need,chromium-headless-shell exim4 firefox openssl pdftoppm webkit)
	$(BIN)/pytest -q -m browser tests/browser/card_page
	GATEPASS_FULL=1 $(BIN)/pytest -q -s $(CARDS)
	$(BIN)/python -m bench.mail

.PHONY: gate-check
gate-check:  ## gates without a network, in short, for CI: the simulator, a mutant for each rule, killed gates
	$(BIN)/pytest -q -n 2 --dist worksteal $(GATES)

.PHONY: gate-full
gate-full:  ## the same at full size: 1,000 seeds of 20 gates from FROM on, 1,000 kills
	GATEPASS_FULL=1 $(BIN)/pytest -q -s $(GATES)
	$(BIN)/python -m tests.gate.simulator --seeds $(or $(SEEDS),1000) --from $(or $(FROM),1)

.PHONY: scanner-check
scanner-check: sdk-js/node_modules tools/node_modules  ## the scanner in short, for CI: three browsers, readers, no network, what a phone keeps
	$(call need,chromium chromium-headless-shell firefox webkit)
	$(BIN)/pytest -q -n 2 --dist worksteal tests/scanner
	$(BIN)/pytest -q -n 2 --dist worksteal -m browser tests/browser/scanner

.PHONY: scanner-full
scanner-full: sdk-js/node_modules tools/node_modules  ## the same at full size: every look and language, all kills; pictures in test-results/scanner
	$(call need,chromium chromium-headless-shell firefox webkit)
	$(BIN)/pytest -q tests/scanner
	GATEPASS_FULL=1 $(BIN)/pytest -q -s -m browser tests/browser/scanner

.PHONY: ha-check
ha-check:  ## the failing cluster in short, for CI: a part that SEED draws, in at most four minutes; as root
	$(call need,$(HA))
	$(BIN)/python -m tests.ha check $(if $(SEED),--seed $(SEED)) $(if $(LAB),--lab $(LAB))

.PHONY: ha-full
ha-full:  ## all faults of the cluster, alone and in pairs, FAULTS or MINUTES of them; goes on by SEED; hours, as root
	$(call need,$(HA))
	$(BIN)/python -m tests.ha full --seed $(or $(SEED),1) $(if $(FROM),--from $(FROM)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
	  $(if $(LAB),--lab $(LAB)) --faults $(or $(FAULTS),300) --minutes $(or $(MINUTES),600)

.PHONY: ha-report
ha-report:  ## the table of all rounds of ha-full; WRITE=1 writes it into the documentation
	$(BIN)/python -m tests.ha report $(if $(WRITE),--write)

.PHONY: webhooks-full
webhooks-full:  ## the same at full size: 200 kills, 10,000 tickets, a million deliveries; half an hour
	GATEPASS_FULL=1 $(BIN)/pytest -q -s tests/faults/webhooks
	$(BIN)/pytest -q tests/worker tests/domain/webhooks
	$(BIN)/python -m bench.webhooks

.PHONY: restore-drill
restore-drill:  ## the database is lost and restored to 5 random moments: gates send again what it had acknowledged
	$(call need,postgresql-15 pgbackrest)
	$(BIN)/python -m tests.drills.restore

.PHONY: restore-check
restore-check:  ## the same in short, for CI: one random moment
	$(call need,postgresql-15 pgbackrest)
	$(BIN)/python -m tests.drills.restore --moments 1 --seconds 5

.PHONY: upgrade-drill
upgrade-drill:  ## from 0.2.0 to today side by side, under load and readers that hold locks; and from 0.1, stopped
	$(call need,git postgresql-15)
	$(BIN)/python -m tests.drills.upgrade

.PHONY: upgrade-check
upgrade-check:  ## the same in short, for CI: side by side only
	$(call need,git postgresql-15)
	$(BIN)/python -m tests.drills.upgrade --held 1 --only-side-by-side

.PHONY: cells-check
cells-check:  ## two cells behind the edge, in short, for CI: what comes back reaches its cell, and a cell fails alone
	$(call need,haproxy wrk)
	$(BIN)/pytest -q -n 2 --dist loadfile tests/edge
	$(BIN)/python -m bench.cells $(if $(NIGHT),--rounds 5 --seconds 1 --cost-rounds 2 --width 3 --check,--rounds 1 --seconds 1 --cost-rounds 1)

.PHONY: cells-full
cells-full:  ## the same at full size and with the wanted bounds, then with a Patroni cluster for each cell; as root
	$(call need,haproxy wrk $(HA))
	$(BIN)/pytest -q tests/edge
	$(BIN)/python -m bench.cells --check
	$(BIN)/python -m bench.cells --patroni --check

.PHONY: sdk-check
sdk-check:  ## the SDK: one source, its contract against the service and the fake, bad networks, kills, its wheel
	$(need_acceptance)
	$(BIN)/python tools/sdk_sync.py --check
	$(BIN)/pytest -q -n 2 --dist worksteal $(TOGETHER) tests/sdk $(GATES_APART) --ignore $(SDK_JS)
	$(if $(NIGHT),$(BIN)/pytest -q -s -m alone tests/sdk $(GATES_APART) --ignore $(SDK_JS))

.PHONY: sdk-full
sdk-full:  ## at full size: a queue of 10,000 scans, drained by a process that is killed 50 times; a gate, 1,000 times
	GATEPASS_FULL=1 $(BIN)/pytest -q -s tests/sdk/queue/test_killed.py tests/sdk/gate/test_killed.py

.PHONY: sdk-js-check
sdk-js-check: sdk-js/node_modules  ## the SDK for JavaScript, in short, for CI: types, units, its package, 500 scans through a bad network
	$(call need,chromium-headless-shell)
	cd sdk-js && { npm run --silent check & checking=$$!; npm --silent test && wait $$checking; }
	$(BIN)/pytest -q -n 2 --dist loadfile $(TOGETHER) $(SDK_JS)
	$(if $(NIGHT),$(BIN)/pytest -q -s -m alone $(SDK_JS))

.PHONY: sdk-js-full
sdk-js-full: sdk-js/node_modules  ## the same at full size: 5,000 scans through a bad network
	GATEPASS_FULL=1 $(BIN)/pytest -q -s -m alone $(SDK_JS)

.PHONY: bridge-check
bridge-check:  ## the bridge of examples/pretix against pretix itself, killed 20 times; installs it, six minutes, then four
	$(call need,redis-server)
	$(BIN)/pytest -q -s tests/bridge

.PHONY: check
check: tools/node_modules  ## lint, types, imports, SQL, OpenAPI, styles, scanner, workflow: 2 to 4 minutes
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-types check-code check-sql check-openapi check-styles check-scanner check-repo

.PHONY: check-code
check-code:  ## format, lint and the layers of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

.PHONY: check-types
check-types:  ## types, by pyright on two cores
	$(BIN)/pyright --threads 2

.PHONY: check-sql
check-sql:  ## migrations and routines, by squawk
	$(BIN)/squawk --config .squawk.toml $$(find gatepass -name '*.sql')

.PHONY: audit
audit:  ## the dependencies: pinned, hashed, licences; known vulnerabilities where a database can be reached
	$(call need,npm)
	$(BIN)/python -m tools.audit

.PHONY: check-openapi
check-openapi: tools/node_modules  ## docs/openapi.json, by redocly
	REDOCLY_TELEMETRY=off tools/node_modules/.bin/redocly lint docs/openapi.json

.PHONY: check-styles
check-styles: tools/node_modules  ## the studio's style sheet is what `make styles` builds
	tools/node_modules/.bin/tailwindcss --minify -i tools/studio.css -o .styles.css
	cmp .styles.css gatepass/studio/static/studio.css || (echo "Run make styles and commit."; exit 1)
	rm .styles.css

.PHONY: check-scanner
check-scanner: tools/node_modules  ## the scanner: types, and its committed files are what `make scanner` builds
	tools/node_modules/.bin/tsc -p gatepass/gate/source
	tools/node_modules/.bin/tsc -p gatepass/gate/source/service_worker
	$(call build_scanner,.scanner)
	for file in .scanner/*; do cmp $$file gatepass/gate/static/$${file##*/} || { echo "Run make scanner and commit."; exit 1; }; done
	rm -r .scanner

.PHONY: check-repo
check-repo:  ## the workflow, templates and hooks for contributors, by their own linters
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*_*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/zizmor --offline --quiet --persona pedantic .github
	$(BIN)/pre-commit validate-config .pre-commit-config.yaml

.PHONY: deploy-check
deploy-check:  ## deploy/: Dockerfile, compose file, systemd units and Kubernetes, by their own linters and our tests
	$(call need,envsubst haproxy kubectl postgresql-15 valkey)
	$(BIN)/hadolint deploy/Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(BIN)/compose-lint check -q --skip-suppressed --no-env --config deploy/.compose-lint.yml --fail-on low deploy/compose.yaml
	$(BIN)/pytest -q -n 2 --dist worksteal tests/deploy

.PHONY: observe-check
observe-check:  ## deploy/observe: promtool, names of metrics, runbooks, and each alert fires when its trouble is caused
	$(call need,faketime prometheus valkey)
	$(BIN)/pytest -q -n 2 --dist loadfile tests/observe

.PHONY: release
release:  ## wheels, sdists, checksums and a bill of materials into dist/, built twice and compared
	$(call need,git)
	$(BIN)/python -m tools.release

.PHONY: release-check
release-check:  ## the same in short, for CI: the same bytes twice, complete, no secret, and the wheels run
	$(call need,git)
	$(BIN)/pytest -q tests/release

.PHONY: openapi
openapi:  ## write docs/openapi.json from the code
	$(BIN)/python -m gatepass.api.openapi.document > docs/openapi.json

.PHONY: sdk-sync
sdk-sync:  ## write the SDK's synchronous client from its asynchronous one
	$(BIN)/python tools/sdk_sync.py

.PHONY: reference
reference:  ## write the generated parts of the reference pages from the code and from real answers
	$(call need,curl jq openssl)
	GATEPASS_RECORD=1 $(BIN)/pytest -q tests/docs/test_reference.py -k record
	$(BIN)/python -m tools.reference

.PHONY: docs
docs:  ## build the documentation's site into site/
	$(BIN)/python -m tools.site

.PHONY: docs-check
docs-check:  ## the documentation: generated parts, links, the site, every code block, the way to the first webhook
	$(call need,chromium-headless-shell curl git jq)
	$(BIN)/pytest -q -n 2 --dist loadfile tests/docs

.PHONY: styles
styles: tools/node_modules  ## build the studio's style sheet
	tools/node_modules/.bin/tailwindcss --minify -i tools/studio.css -o gatepass/studio/static/studio.css

.PHONY: scanner
scanner: tools/node_modules  ## build the scanner's scripts and style sheet
	$(call build_scanner,gatepass/gate/static)

# Its texts are made by the server, and stay a file of their own.
build_scanner = cd gatepass/gate/source && ../../../tools/node_modules/.bin/esbuild app.ts styles/app.css service_worker/sw.ts camera/decoder.worker.ts \
  --bundle --minify --format=esm --target=es2022 --charset=utf8 --external:./words.js --log-level=warning --entry-names=[name] \
  --outdir=$(abspath $(1))

tools/node_modules: tools/package-lock.json
	$(call need,npm)
	cd tools && npm ci --silent --no-audit --no-fund
	@touch $@

sdk-js/node_modules: sdk-js/package-lock.json
	$(call need,npm)
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' \
	  || { echo "make $@ needs Node 20 or newer; Debian 12 has 18: https://nodejs.org/en/download"; exit 1; }
	cd sdk-js && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

.PHONY: languages
languages:  ## bring the catalogues of participants' languages up to date with the code; then translate what is empty
	$(BIN)/python -m tools.languages --write

.PHONY: vendored
vendored:  ## take the vendored files from the packages that vendored.toml names
	$(call need,npm)
	$(BIN)/python -m tools.vendored --write

.PHONY: vendored-check
vendored-check:  ## the vendored files are what the packages on npm hold
	$(call need,npm)
	$(BIN)/python -m tools.vendored --fetch

.PHONY: fix
fix:  ## format, and fix what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: lock
lock:  ## compile the requirements again, with hashes
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) --extra dev --group dev pyproject.toml -o requirements-dev.txt
	$(LOCK) --group build -o deploy/requirements-build.txt
	$(LOCK) --group patroni -c requirements-dev.txt -o deploy/ha/requirements.txt
