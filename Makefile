# The entry points of the build; meson does the work.

BUILD ?= build
PREFIX ?= /usr/local
MESON = meson
SDK = sdk/typescript
TSC = .deps/node/node_modules/typescript/bin/tsc

# Programs that scripts/setup fetched because the distribution has none, or an old one.
export PATH := $(CURDIR)/.deps/bin:$(PATH)
# What 'make run' needs: the build of everything else takes longer.
PROGRAMS = glovebox glovebox-egress glovebox-js glovebox-python glovebox-shell glovebox-node glovebox-deno glovebox-probe

.PHONY: all setup setup-check programs uninstall sdk tables run test test-docs test-as-nobody test-vm test-bare soak test262 wpt test-ts test-mcp test-e2b wheel bench bench-runs bench-crowd bench-service bench-mcp bench-network bench-fetch bench-python bench-peers bench-ts bench-store bench-executor bench-actions bench-mask mask-corpus asan asan-build \
	fuzz lint \
	format cover install clean help

all: $(BUILD)/build.ninja ## build the program, the workers, the library and the tests (the default)
	@scripts/progress 'building all' ninja -C $(BUILD)

programs: $(BUILD)/build.ninja ## build only the program and the workers
	@scripts/progress 'building Glovebox' ninja -C $(BUILD) $(PROGRAMS)

setup: setup-build ## install what the build needs; setup-test, setup-lint and so on: what that target needs (scripts/setup)

setup-%:
	@scripts/setup $*

setup-check: ## only tell what each step of the setup would install
	@scripts/setup --check

$(BUILD)/build.ninja: | setup-build
	@scripts/progress -q 'configuring the build' $(MESON) setup $(BUILD) $(if $(CI),--werror)

sdk: $(SDK)/dist/index.js ## build the TypeScript SDK

$(SDK)/dist/index.js: $(wildcard $(SDK)/src/*.ts) $(SDK)/tsconfig.json | setup-node
	@rm -rf $(@D)
	@[ ! -f $(TSC) ] || node $(TSC) -p $(SDK)

run: programs ## a short tour of sandboxed runs
	@scripts/tour $(BUILD)/glovebox
	@scripts/setup --optional

test: setup-test all sdk ## run all tests; the last line has their number
	@scripts/test $(BUILD)

test-docs: setup-test all ## execute the console blocks of README.md and docs/, and compare their output; a part of 'make test'
	@GB_GLOVEBOX=$(abspath $(BUILD))/glovebox tests/docs/check.py $(PAGES)

test-as-nobody: setup-test all ## the tests of the sandbox again, as an ordinary user (needs root to switch)
	@scripts/test-as-nobody $(BUILD)

test-vm: setup-vm all ## the tests of the sandbox again, under Debian's kernel in a virtual machine (emulated: half an hour); SUITE=e2e for the end-to-end tests
	@GB_MANY_RUNS=1000 scripts/vm scripts/test $(BUILD) --suite $(or $(SUITE),wall --suite attack) --timeout-multiplier 10

test-bare: setup-bare ## 'make run' and 'make test' on a minimal Debian 12 and 13, as root and as an ordinary user (needs root): RELEASE=trixie for one of them
	@scripts/test-bare $(RELEASE)

soak: setup-test setup-bare all ## tests that are too long or too invasive for CI: GB_SOAK_KILLS, GB_SOAK_SEED, GB_TEST_MACHINE=1 (see tests/soak)
	@scripts/soak $(BUILD)

test262: all ## SUITE=dir: modules, imports, awaits and promises of test262, compared to the plain engine
	@SUITE='$(SUITE)' ONLY='$(ONLY)' $(if $(EXPECTATIONS),EXPECTATIONS='$(EXPECTATIONS)') scripts/test262 $(BUILD)

wpt: all ## SUITE=dir: tests of web-platform-tests for URL, encoding and fetch that need no browser
	@GB_GLOVEBOX=$(BUILD)/glovebox scripts/wpt '$(SUITE)' $(ONLY)

test-ts: setup-node all ## erased TypeScript compared to the output of the compiler: the test cases, and every file below CORPUS
	@scripts/test-ts $(BUILD) $(CORPUS)

wheel: setup-wheel programs ## the wheel of the Python SDK with the programs, and its source distribution, in dist/
	@scripts/wheel $(BUILD) dist

test-mcp: setup-mcp all ## client libraries of MCP, unmodified, against 'glovebox mcp', and the conformance suite
	@scripts/test-mcp $(BUILD)

test-e2b: setup-e2b all ## E2B's own client, unmodified, against the server that stands for E2B in the tests of glovebox.actions
	@scripts/test-e2b $(BUILD)

bench: bench-runs bench-crowd bench-network bench-fetch bench-mask bench-store bench-executor bench-mcp bench-python bench-actions ## the cost of each part of a run, compared to physical limits

bench-runs: all ## latency, throughput and memory of a run, against the physical floor
	@$(BUILD)/bench-runs

bench-crowd: all ## the latency of a short run while 50 endless loops of the same language run
	@$(BUILD)/bench-runs --crowd

bench-network: all ## start of a run in the network tier, connections and transfer, compared to the isolated tier and loopback
	@PATH="$(CURDIR)/.deps/bin:$$PATH" GB_GLOVEBOX=$(BUILD)/glovebox bench/network.py

bench-fetch: setup-node all ## fetch in JavaScript compared to fetch of Node.js: latency, requests per second, transfer
	@PATH="$(CURDIR)/.deps/bin:$$PATH" GB_GLOVEBOX=$(BUILD)/glovebox bench/fetch.py

bench-service: all ## the latency of a client's short run while the server waits for locks, starts runtimes, reads large messages
	@$(BUILD)/bench-service

bench-mcp: all ## the latency of execute_code over MCP, compared to the bare protocol
	@bench/mcp.py $(BUILD)

bench-python: all ## a run by the Python SDK compared to the bare protocol, and sandboxed Python compared to a process of Python
	@bench/python.py $(BUILD)

bench-peers: setup-peers all ## the same, compared to other ways to run untrusted code
	@bench/compare $(BUILD)/bench-runs

bench-ts: all ## the cost of erasing types, compared to compiling the same text: FILES, or the test cases
	@$(BUILD)/bench-ts $(or $(FILES),$(wildcard tests/fuzz/corpus/ts/*.ts))

bench-executor: all ## the cost of a call of a tool by code, compared to a call of a host function and to a plain Deno subprocess
	@$(BUILD)/bench-executor
	@bench/executor.py $(BUILD)

bench-actions: setup-bench all ## the latency of code.execute, compared to RestrictedPython in process and to subprocess
	@bench/actions.py $(BUILD)

bench-store: all ## records per second in the audit log, compared to plain SQLite with the same durability
	@$(BUILD)/bench-store $(DIR)

bench-mask: all ## the cost of the secrets filter on plain text: FILES, or docs/
	@$(BUILD)/bench-mask $(or $(FILES),$(wildcard docs/*.md))
mask-corpus: setup-node all ## what the secrets filter masks in source code, with file:line of every place: CORPUS=DIRECTORY, or 50 npm packages, which it fetches once
	@scripts/mask-corpus $(BUILD) $(CORPUS)

asan-build: setup-build
	@scripts/asan build-asan --build-only

asan: setup-test sdk ## all tests again, under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/asan build-asan

fuzz: setup-fuzz ## each fuzz target for FUZZ_SECONDS (60), or for a fixed number of inputs, FUZZ_RUNS
	@scripts/fuzz build-fuzz $(or $(FUZZ_SECONDS),60)

lint: setup-lint all ## format, clang-tidy, include order, style
	@scripts/lint $(BUILD)

tables: all ## regenerate files from the tables of the sources: SDK types, tables of the docs
	@scripts/tables $(BUILD)

format: setup-lint ## format all sources with clang-format
	@git ls-files '*.c' '*.h' | xargs clang-format -i

cover: setup-cover sdk ## line coverage of the unit and end-to-end tests
	@scripts/cover build-cover

install: $(BUILD)/build.ninja $(if $(wildcard $(TSC)),sdk) ## install to PREFIX (/usr/local), below DESTDIR if it is set; another PREFIX compiles nothing
	@scripts/progress 'building Glovebox' ninja -C $(BUILD) $(PROGRAMS) library
	@DESTDIR='$(DESTDIR)' scripts/install $(BUILD) '$(PREFIX)'

uninstall: ## remove what 'make install' has put below PREFIX
	@DESTDIR='$(DESTDIR)' scripts/install --remove '$(PREFIX)'

clean: ## remove build directories (not .deps)
	@rm -rf $(BUILD) build-asan build-fuzz build-cover $(SDK)/dist

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 14
