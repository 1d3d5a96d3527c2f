# The one entrance. meson does the work; this says what there is to do.

BUILD ?= build
PREFIX ?= /usr/local
MESON = meson
SDK = sdk/typescript
TSC = .deps/node/node_modules/typescript/bin/tsc

.PHONY: all setup sdk tables run test test-as-nobody test-vm soak test262 test-ts bench bench-runs bench-crowd bench-peers bench-ts bench-store bench-mask mask-corpus asan asan-build \
	fuzz lint \
	format cover install clean help

all: setup $(BUILD)/build.ninja ## build the program, the workers and the library (the default)
	@ninja -C $(BUILD) --quiet

setup: ## install what is missing and build quickjs-ng into .deps/
	@scripts/setup

$(BUILD)/build.ninja:
	@$(MESON) setup $(BUILD) --prefix=$(PREFIX) $(if $(CI),--werror) >$(BUILD).log 2>&1 || (cat $(BUILD).log; exit 1)
	@mv $(BUILD).log $(BUILD)/setup.log

sdk: $(SDK)/dist/index.js ## build the TypeScript SDK

$(SDK)/dist/index.js: $(wildcard $(SDK)/src/*.ts) $(SDK)/tsconfig.json | setup
	@rm -rf $(@D)
	@[ ! -f $(TSC) ] || node $(TSC) -p $(SDK)

run: all ## a small tour of real sandboxed runs
	@scripts/tour $(BUILD)/glovebox

test: all sdk ## every test; the last line counts them
	@scripts/test $(BUILD)

test-as-nobody: all ## the tests of the wall once more, as an ordinary user (needs root to become one)
	@scripts/test-as-nobody $(BUILD)

test-vm: all ## the tests of the wall once more, under Debian's own kernel in a virtual machine (emulated: half an hour); SUITE=e2e for all other programs that run code
	@GB_MANY_RUNS=1000 scripts/vm scripts/test $(BUILD) --suite $(or $(SUITE),wall --suite attack) --timeout-multiplier 10

soak: all ## tests that are too long or too invasive for CI: GB_SOAK_KILLS, GB_SOAK_SEED, GB_TEST_MACHINE=1 (see tests/soak)
	@scripts/soak $(BUILD)

test262: all ## SUITE=dir: modules, imports, awaits and promises of test262, beside the plain engine
	@SUITE='$(SUITE)' ONLY='$(ONLY)' $(if $(EXPECTATIONS),EXPECTATIONS='$(EXPECTATIONS)') scripts/test262 $(BUILD)

test-ts: all ## erased TypeScript beside the compiler's own: our cases, and every file below CORPUS
	@scripts/test-ts $(BUILD) $(CORPUS)

bench: bench-runs bench-crowd bench-mask bench-store ## what everything on the way of a run costs, against physical limits and peers

bench-runs: all ## latency, throughput and memory of a run, against the physical floor
	@$(BUILD)/bench-runs

bench-crowd: all ## a short run while 50 endless loops of the same language are at it
	@$(BUILD)/bench-runs --crowd

bench-peers: all ## the same, beside other ways to run untrusted code
	@bench/compare $(BUILD)/bench-runs

bench-ts: all ## what erasing types costs, beside compiling the same text: FILES, or our own cases
	@$(BUILD)/bench-ts $(or $(FILES),$(wildcard tests/fuzz/corpus/ts/*.ts))

bench-store: all ## records a second in the audit log, beside bare SQLite with the same durability
	@$(BUILD)/bench-store $(DIR)

bench-mask: all ## what the secrets filter costs, on plain text: FILES, or our own documents
	@$(BUILD)/bench-mask $(or $(FILES),$(wildcard docs/*.md))
mask-corpus: all ## what the secrets filter masks in source code, with file:line of every place: CORPUS=DIRECTORY, or 50 npm packages, which it fetches once
	@scripts/mask-corpus $(BUILD) $(CORPUS)

asan-build: setup
	@scripts/asan build-asan --build-only

asan: setup sdk ## every test again, under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/asan build-asan

fuzz: setup ## each fuzz target for FUZZ_SECONDS (60), or for the same FUZZ_RUNS inputs each time
	@scripts/fuzz build-fuzz $(or $(FUZZ_SECONDS),60)

lint: all ## format, clang-tidy, include order, style
	@scripts/lint $(BUILD)

tables: all ## write again what follows from the tables of the sources: SDK types, tables of the docs
	@scripts/tables $(BUILD)

format: ## let clang-format have its way
	@git ls-files '*.c' '*.h' | xargs clang-format -i

cover: setup ## line coverage of the unit and end-to-end tests
	@scripts/cover build-cover

install: all ## install to PREFIX (/usr/local)
	@$(MESON) configure $(BUILD) --prefix=$(abspath $(PREFIX)) && ninja -C $(BUILD) --quiet install

clean: ## remove what was built here (not .deps)
	@rm -rf $(BUILD) build-asan build-fuzz build-cover $(SDK)/dist

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 14
