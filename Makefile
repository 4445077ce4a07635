# What can be done here. `make help` lists it.

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
# make test FILTER=Range runs the tests whose names match.
FILTER ?=
# Arguments for the benchmarks and the fuzzer: make bench ARGS='--rows plain,tls --runs 3'
ARGS ?=

# make release PRODUCT=ferry-origin builds another program in the same way; PORTABLE=yes for the systems of the packages.
PRODUCT ?= ferry

# The release binary is built for size, without debug information, unwind tables or a search path, and finds its types without a
# search. The linker keeps one of equal functions, and puts first what a download calls, so that few pages are read at the start.
# docs/benchmarks.md has the figures.
RELEASE := -c release --static-swift-stdlib --disable-local-rpath -debug-info-format none -Xswiftc -Osize \
	-Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
ifeq ($(shell uname -s),Linux)
RELEASE += -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld -Xlinker --icf=all \
	-Xlinker '--symbol-ordering-file=$(CURDIR)/Release/function-order.txt' -Xlinker --no-warn-symbol-ordering \
	-Xlinker '-T$(CURDIR)/Release/no-unwind-tables.ld' -Xlinker --no-eh-frame-hdr \
	$(addprefix -Xcc ,-Os -ffunction-sections -fdata-sections -fno-unwind-tables -fno-asynchronous-unwind-tables)
# The short form of relocations needs glibc 2.36. Packages are for older systems too.
ifeq ($(PORTABLE)$(shell getconf GNU_LIBC_VERSION | awk '{ split($$2, part, "."); print (part[1] > 2 || part[2] >= 36) }'),1)
RELEASE += $(addprefix -Xlinker ,--pack-dyn-relocs=relr -z pack-relative-relocs)
endif
# Loading libstdc++ takes a quarter of the time of `ferry --version`. The packages choose for themselves.
ifneq ($(PORTABLE),yes)
WITH_LIBRARIES := FERRY_STATIC_LIBRARIES="$${FERRY_STATIC_LIBRARIES-$$(Scripts/static-libraries --if-there libstdc++.a)}"
endif
endif

THREAD_SANITIZER := --sanitize=thread --scratch-path .build-tsan -Xlinker $(CURDIR)/.build-tsan/mutex.o
SOURCES := Package.swift Sources TestSupport Tests Examples Bench/Package.swift Bench/Sources Fuzz/Package.swift Fuzz/Sources

.DEFAULT_GOAL := help
.PHONY: help build release test test-crash test-aria2 test-content test-s3 test-gateway test-metrics soak test-tsan fuzz lint format bench docs demo install clean dependencies

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dependencies:
	@Scripts/dependencies build

build: dependencies ## Build for debugging
	$(SWIFT) build

release: dependencies ## Build the binary that `install` installs
	$(WITH_LIBRARIES) $(SWIFT) build $(RELEASE) --product $(PRODUCT)

test: dependencies ## Build and run every test (FILTER=name runs some)
	$(SWIFT) build --build-tests
	SWIFT='$(SWIFT)' FILTER='$(FILTER)' Scripts/run-tests

test-crash: dependencies ## Kill `ferry get` 1,000 times (FERRY_CRASH_KILLS=n, FERRY_CRASH_SEED=n, FERRY_CRASH_REPORT=file)
	$(SWIFT) build --build-tests
	FERRY_CRASH_KILLS=$${FERRY_CRASH_KILLS:-1000} $(SWIFT) test --skip-build --disable-xctest --filter CrashTests

test-aria2: ## Let clients for aria2 use a daemon, yt-dlp start ferry as aria2c, all from PyPI (ARGS='-k listen')
	Scripts/test-aria2 $(ARGS)

test-content: ## Let remotezip, pyarrow, ffprobe and curl read files while they are fetched (ARGS='-k zip')
	Scripts/test-content $(ARGS)

test-s3: ## Read from a store and write to it (moto's server), killed at random; aws and rclone read it (ARGS='-k region')
	Scripts/test-s3 $(ARGS)

test-gateway: ## Let pip, huggingface_hub, skopeo, apt fetch through the gateway, killed at random (ARGS='-k killed test_hub')
	Scripts/test-gateway $(ARGS)

test-metrics: ## Let Prometheus scrape a daemon and answer the dashboard's queries (ARGS='-k promtool')
	Scripts/test-metrics $(ARGS)

.PHONY: test-fleet
test-fleet: ## Let workers, a database and a network of a fleet be lost at random, as root (FLEET_FILES=n FLEET_SECONDS=n)
	Scripts/test-fleet $(ARGS)

soak: dependencies ## Let a daemon run with everything against it, ten minutes (FERRY_SOAK_SECONDS=n), write docs/reliability.md
	$(SWIFT) build --build-tests
	Scripts/soak

test-tsan: dependencies ## Run every test under the thread sanitizer, in a build of its own (FILTER=name)
	mkdir -p .build-tsan && clang -O1 -fPIC -c Tests/ThreadSanitizer/mutex.c -o .build-tsan/mutex.o
	$(SWIFT) build --build-tests $(THREAD_SANITIZER)
	# One test at a time: more take so long that limits of time run out.
	TSAN_OPTIONS='suppressions=$(CURDIR)/Tests/ThreadSanitizer/suppressions.txt' SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=1 \
	SWIFT='$(SWIFT)' FILTER='$(FILTER)' FERRY_MODEL_SEEDS=10 Scripts/run-tests $(THREAD_SANITIZER)

fuzz: ## Give every parser a million inputs that a fuzzer makes up (ARGS='--runs 5000000 url journal')
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

bench: ## Measure Ferry beside its peers, write docs/benchmarks.md (ARGS='--rows plain --runs 3')
	@Scripts/dependencies build bench
	Scripts/bench $(ARGS)

.PHONY: compare-peers
compare-peers: dependencies ## Run hostile servers and faults with Ferry and its peers, write docs/reliability.md (ARGS='--rows A3 -v')
	@Scripts/dependencies bench
	Scripts/compare-peers $(ARGS)

docs: dependencies ## Compile the samples of the documents and make the API's pages in .build/docs
	@Scripts/dependencies lint
	Scripts/docs

.PHONY: function-order
function-order: ## Find out which functions a download calls, so that they lie first in the release binary (valgrind)
	$(MAKE) --no-print-directory release
	$(SWIFT) build --product ferry-origin
	Scripts/function-order

demo: ## Download 1 GiB, kill it in the middle, go on, check the digest
	@Scripts/demo

# Under sudo, what `make release` built is installed as it is: root need not have Swift.
install: ## Install the release binary, its manual pages and completions (PREFIX=/usr/local DESTDIR=)
	@if [ -z "$$SUDO_USER" ] || [ ! -x .build/release/ferry ]; then $(MAKE) --no-print-directory release; fi
	@Scripts/dependencies lint
	Scripts/install-files .build/release/ferry '$(DESTDIR)$(PREFIX)'

.PHONY: deb tarball test-packages
deb: ## Make the Debian package in .build/packages (FERRY_BINARY=file packs another release binary)
	@Scripts/dependencies packages
	@if [ -z '$(FERRY_BINARY)' ]; then $(MAKE) --no-print-directory release PORTABLE=yes; fi
	Scripts/package deb '$(or $(FERRY_BINARY),.build/release/ferry)'

tarball: ## Make the package for other distributions in .build/packages (FERRY_STATIC_BINARY=file)
	@Scripts/dependencies packages
	@if [ -z '$(FERRY_STATIC_BINARY)' ]; then directory=$$(Scripts/static-libraries libsqlite3.a libz.a libstdc++.a) && \
		FERRY_STATIC_LIBRARIES=$$directory $(MAKE) --no-print-directory release PORTABLE=yes; fi
	Scripts/package tarball '$(or $(FERRY_STATIC_BINARY),.build/release/ferry)'

test-packages: ## Try both packages in fresh chroots, as root (FERRY_BINARY, FERRY_STATIC_BINARY; ARGS='bookworm trixie')
	Scripts/test-packages $(ARGS)

.PHONY: test-page
test-page: ## Try the page in headless Chromium and Firefox (ARGS='test_living -k pause' BROWSER=firefox runs some)
	@Scripts/test-page $(ARGS)

.PHONY: extension test-extension
extension: ## Pack the browser's extension for Chromium and Firefox in .build/extension
	@Scripts/pack-extension

test-extension: ## Try the extension in headless Chromium and Firefox (ARGS='test_going_on -k renew' BROWSER=firefox runs some)
	@Scripts/test-extension $(ARGS)

clean: ## Remove what was built and the benchmarks' data
	rm -rf .build .build-tsan Bench/.build .build-bench Fuzz/.build
