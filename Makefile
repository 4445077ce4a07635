# The targets of this project. `make help` lists them.

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
# make test FILTER=Range runs the tests whose names match, TARGETS='FerryCoreTests FerryTests' the tests of these targets.
FILTER ?=
TARGETS ?=
# Arguments for the benchmarks and the fuzzer: make bench ARGS='--rows plain,tls --runs 3'
ARGS ?=

# make release PRODUCT=ferry-origin builds another program with the same settings.
PRODUCT ?= ferry

# The release binary is optimized for size, and its symbols name the functions in a backtrace; debug information is left out.
# lld is the only linker that also removes the imports of unused code, some of which are symbols that older systems lack.
OPTIMIZATION := -Osize
OPTIMIZED := -c release -debug-info-format none -Xswiftc $(OPTIMIZATION)
ifeq ($(shell uname -s),Linux)
OPTIMIZED += -Xswiftc -use-ld=lld
endif
RELEASE := $(OPTIMIZED) --static-swift-stdlib --disable-local-rpath

# The optimized tests, in a separate build. Swift Testing is a dynamic library, so Swift's libraries are dynamic too.
TESTED_RELEASE := $(OPTIMIZED) -Xswiftc -enable-testing --scratch-path .build-release
# The optimized sources are tested; Package.swift turns the optimizer off for the tests themselves.
tests-release test-release docs: export FERRY_PLAIN_TESTS := 1

THREAD_SANITIZER := --sanitize=thread --scratch-path .build-tsan -Xlinker $(CURDIR)/.build-tsan/mutex.o
SOURCES := Package.swift Sources TestSupport Tests Examples Apple Bench/Package.swift Bench/Sources Fuzz/Package.swift Fuzz/Sources

.DEFAULT_GOAL := help
.PHONY: help build release test test-crash test-aria2 test-content test-s3 test-gateway test-metrics soak test-tsan fuzz lint format bench docs demo install clean dependencies

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dependencies:
	@Scripts/dependencies build

build: dependencies ## Build for debugging
	$(SWIFT) build

release: dependencies ## Build the binary that `install` installs
	$(SWIFT) build $(RELEASE) --product $(PRODUCT)

test: dependencies ## Build and run every test (FILTER=name runs some)
	$(SWIFT) build --build-tests
	SWIFT='$(SWIFT)' FILTER='$(FILTER)' TARGETS='$(TARGETS)' Scripts/run-tests

.PHONY: test-release programs-release tests-release
programs-release: dependencies
	$(MAKE) --no-print-directory release
	$(MAKE) --no-print-directory release PRODUCT=ferry-origin

.PHONY: check-compiler
check-compiler: ## List the code patterns that the optimizer miscompiles, and fail if the sources use one
	Scripts/check-compiler -O $(OPTIMIZATION)

tests-release: dependencies
	$(SWIFT) build --build-tests $(TESTED_RELEASE)

.PHONY: check-doors
check-doors: programs-release ## Check that the program compiles without its doors: without their targets and their lines in Doors.swift
	SWIFT='$(SWIFT)' Scripts/check-doors $(RELEASE) --product ferry

# The suites that start programs use those of `make release`.
test-release: programs-release check-compiler tests-release ## Build and run every test in the release configuration, against the release binary (FILTER=name runs some)
	SWIFT='$(SWIFT)' FILTER='$(FILTER)' TARGETS='$(TARGETS)' FERRY='$(CURDIR)/.build/release/ferry' FERRY_ORIGIN='$(CURDIR)/.build/release/ferry-origin' \
		Scripts/run-tests $(TESTED_RELEASE)

test-crash: dependencies ## Kill `ferry get` 1,000 times (FERRY_CRASH_KILLS=n, FERRY_CRASH_SEED=n, FERRY_CRASH_REPORT=file)
	$(SWIFT) build --build-tests
	FERRY_CRASH_KILLS=$${FERRY_CRASH_KILLS:-1000} $(SWIFT) test --skip-build --disable-xctest --filter CrashTests

test-aria2: ## Let aria2 clients use a daemon, and yt-dlp start ferry as aria2c, all from PyPI (ARGS='-k listen')
	Scripts/test-aria2 $(ARGS)

test-content: ## Let remotezip, pyarrow, ffprobe and curl read files while they are downloaded (ARGS='-k zip')
	Scripts/test-content $(ARGS)

test-s3: ## Read from a store (moto's server) and write to it, with random kills; aws and rclone read it (ARGS='-k region')
	Scripts/test-s3 $(ARGS)

test-gateway: ## Let pip, uv, huggingface_hub, skopeo, apt fetch through the gateway, with random kills (ARGS='-k killed test_hub')
	Scripts/test-gateway $(ARGS)

test-metrics: ## Let Prometheus scrape a daemon and answer the dashboard's queries (ARGS='-k promtool')
	Scripts/test-metrics $(ARGS)

.PHONY: compare-builds
compare-builds: programs-release ## Compare the debug and the release binary on some hundred command lines (ARGS='sync -v')
	$(SWIFT) build --product ferry
	FERRY_ORIGIN='$(CURDIR)/.build/release/ferry-origin' Scripts/compare-builds $(ARGS)

.PHONY: test-sets
test-sets: ## Sync a tree from nginx, Apache, lighttpd, Caddy and http.server, and compare with wget (SYNC_ROUNDS=n, ARGS='-k caddy')
	Scripts/test-sets $(ARGS)

.PHONY: test-consumers
test-consumers: dependencies ## Resolve packages that depend on this one with and without the trait Daemon, and build one (ARGS=--resolve)
	SWIFT='$(SWIFT)' Scripts/test-consumers $(ARGS)

.PHONY: test-fleet
test-fleet: ## Run a fleet while workers, the database and the network fail at random, as root (FLEET_FILES=n FLEET_SECONDS=n)
	Scripts/test-fleet $(ARGS)

soak: dependencies ## Run a daemon under faults for ten minutes (FERRY_SOAK_SECONDS=n), write docs/reliability.md
	$(SWIFT) build --build-tests
	Scripts/soak

test-tsan: dependencies ## Run every test under the thread sanitizer, in a separate build (FILTER=name)
	mkdir -p .build-tsan && clang -O1 -fPIC -c Tests/ThreadSanitizer/mutex.c -o .build-tsan/mutex.o
	$(SWIFT) build --build-tests $(THREAD_SANITIZER)
	# One test at a time: several are so slow that time limits expire.
	TSAN_OPTIONS='suppressions=$(CURDIR)/Tests/ThreadSanitizer/suppressions.txt' SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=1 \
	SWIFT='$(SWIFT)' FILTER='$(FILTER)' TARGETS='$(TARGETS)' FERRY_MODEL_SEEDS=10 Scripts/run-tests $(THREAD_SANITIZER)

fuzz: ## Feed every parser a million generated inputs (ARGS='--runs 5000000 url journal')
	@Scripts/dependencies build
	Scripts/fuzz $(ARGS)

lint: ## Check format, imports and the house rules
	@Scripts/dependencies lint
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)
	Scripts/check-imports --self-test
	Scripts/check-imports
	Scripts/check-scripts

format: ## Format every Swift file in place
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

bench: ## Measure Ferry and its peers, write docs/benchmarks.md (ARGS='--rows plain --runs 3')
	@Scripts/dependencies build bench
	Scripts/bench $(ARGS)

.PHONY: compare-peers
compare-peers: dependencies ## Run hostile servers and faults with Ferry and its peers, write docs/reliability.md (ARGS='--rows A3 -v')
	@Scripts/dependencies bench
	Scripts/compare-peers $(ARGS)

# make docs TESTED=1 uses the modules that `make test-release` has built.
docs: dependencies ## Compile the samples in the documents and build the API documentation in .build/docs
	@Scripts/dependencies lint
	Scripts/docs $(if $(TESTED),$(TESTED_RELEASE))

demo: ## Download 1 GiB, kill ferry halfway, resume, check the digest
	@Scripts/demo

# Under sudo, the binary that `make release` built is installed as it is: root need not have Swift.
install: ## Install the release binary, its manual pages and completions (PREFIX=/usr/local DESTDIR=)
	@if [ -z "$$SUDO_USER" ] || [ ! -x .build/release/ferry ]; then $(MAKE) --no-print-directory release; fi
	@Scripts/dependencies lint
	Scripts/install-files .build/release/ferry '$(DESTDIR)$(PREFIX)'

.PHONY: deb tarball test-packages
deb: ## Build the Debian package in .build/packages (FERRY_BINARY=file packs another release binary)
	@Scripts/dependencies packages
	@if [ -z '$(FERRY_BINARY)' ]; then $(MAKE) --no-print-directory release; fi
	Scripts/package deb '$(or $(FERRY_BINARY),.build/release/ferry)'

tarball: ## Build the package for other distributions in .build/packages (FERRY_STATIC_BINARY=file)
	@Scripts/dependencies packages
	@if [ -z '$(FERRY_STATIC_BINARY)' ]; then directory=$$(Scripts/static-libraries libsqlite3.a libz.a libstdc++.a) && \
		FERRY_STATIC_LIBRARIES=$$directory $(MAKE) --no-print-directory release; fi
	Scripts/package tarball '$(or $(FERRY_STATIC_BINARY),.build/release/ferry)'

test-packages: ## Test both packages in fresh chroots, as root (FERRY_BINARY, FERRY_STATIC_BINARY; ARGS='bookworm trixie')
	Scripts/test-packages $(ARGS)

.PHONY: apple
apple: ## Type-check on Linux: the library for iOS, everything except the tests for macOS (ARGS='FerryEngine' checks some modules)
	@Scripts/dependencies apple
	SWIFT='$(SWIFT)' Scripts/check-apple --self-test
	SWIFT='$(SWIFT)' Scripts/check-apple $(ARGS)

.PHONY: test-page
test-page: ## Test the page in headless Chromium and Firefox (ARGS='test_living -k pause' BROWSER=firefox runs some)
	@Scripts/test-page $(ARGS)

.PHONY: extension test-extension
extension: ## Pack the browser extension for Chromium and Firefox in .build/extension
	@Scripts/pack-extension

test-extension: ## Test the extension in headless Chromium and Firefox (ARGS='test_going_on -k renew' BROWSER=firefox runs some)
	@Scripts/test-extension $(ARGS)

clean: ## Remove the build products and the benchmarks' data
	rm -rf .build .build-tsan .build-release Bench/.build .build-bench Fuzz/.build
