# `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
CAMERA ?= Samples/street-h264-aac.mp4
HUB ?=
SWIFT ?= swift

# Finds a toolchain that was unpacked but is not in PATH.
export PATH := $(PATH):/opt/swift/usr/bin:$(HOME)/.local/share/swiftly/bin

# The Swift runtime is linked into the binaries, so they run on a machine without Swift.
# Most of the data of ICU, which comes with Foundation, is left out.
ICU := .build/icu/options
RELEASE = -c release --static-swift-stdlib $(shell cat $(ICU) 2>/dev/null)
BIN := .build/release
# protoc's output (make protobuf) keeps protoc's format.
SWIFT_FILES = $(shell find Package.swift Sources Tests Benchmarks Fuzz -name '*.swift' -not -path '*/.build*' \
	-not -name '*.pb.swift')

# The targets whose tests run in virtual time or decode media.
COMPUTING_TESTS = ^(MediaChannel|MediaPlayer|MediaCodec|PeerTransport|RTP|Fuzz)Tests\.
# They compute, too, and no machine is too slow for them: files of one test alone, and virtual time.
PATIENT_TESTS = ^(RecordingStoreTests\.|LinkHubTests\.VirtualChaosTests)
FAILURES_LAST := Tests/failures-last.sh
# One test at a time without SwiftPM, which locks the build's database: the tests with these names.
RUN_TESTS = env NO_COLOR=1 $(FAILURES_LAST) .build/debug/iotvideodPackageTests.xctest \
	--testing-library swift-testing --no-parallel --filter "$1"
# The end-to-end tests of the suites with these first letters.
END_TO_END = CHAOS_SECONDS=$${CHAOS_SECONDS:-20} $(call RUN_TESTS,EndToEndTests\.$1)
NEEDS_ROOT := $(filter test test-long interop attack,$(MAKECMDGOALS))

.PHONY: help deps deps-test deps-check root build run test interop attack lint bench fuzz soak format install install-documents deb deb-test clean

help:
	@echo 'make deps      install the Debian packages for building and running'
	@echo 'make build     build iotvideod and iotctl in release mode'
	@echo 'make run       deps, build, and run with the sample clip as camera "front"'
	@echo '               (CAMERA=rtsp://192.0.2.7/stream or CAMERA=clip.mp4 for another one; HUB=192.0.2.2, an address'
	@echo '               of this machine, lets other boxes join there)'
	@echo 'make test      deps, format check, and every test (needs root, for network namespaces and captures;'
	@echo '               about 38 minutes on 2 cores)'
	@echo 'make test-long  tests that take too long for make test: chaos with other seeds and for ten minutes, more cases for'
	@echo '               the API, a TypeScript client, make deb-test (needs root; an hour on 2 cores; CHAOS_SEED,'
	@echo '               CHAOS_SECONDS, CHAOS_SEEDS, MAX_EXAMPLES and SOAK_CYCLES change the defaults)'
	@echo 'make interop   test with independent peers: Chromium, GStreamer, aiortc, coturn, a kernel NAT, Avahi,'
	@echo '               devices like five manufacturers'"'"' cameras; and test the rights of the service (needs root)'
	@echo 'make lint      run only the format check and the check of targets and imports'
	@echo 'make attack    attack a daemon as a stranger, a guest, a member and a device, for ATTACK_SECONDS (3600);'
	@echo '               its owner must get fast answers meanwhile, and the memory must be freed afterwards (needs root)'
	@echo 'make bench     run the benchmarks, with references'
	@echo 'make fuzz      run libFuzzer with AddressSanitizer on every parser of input from strangers,'
	@echo '               for FUZZ_SECONDS (600) each'
	@echo 'make soak      open 40,000 peer connections, then run 200 clients for an hour; memory, descriptors and files'
	@echo '               must stay flat (change with SOAK_CYCLES=500 SOAK_SECONDS=600 SOAK_CLIENTS=200 SOAK_SEED=1)'
	@echo 'make format    format the sources'
	@echo 'make protobuf  generate the Swift code of Protobuf/*.proto again (needs protobuf-compiler)'
	@echo 'make install   install binaries, systemd unit and configuration (PREFIX, DESTDIR)'
	@echo 'make deb       build a Debian package of the programs in .build/release, into .build/deb'
	@echo 'make deb-test  install, run, upgrade and purge it in a clean Debian 12 (needs root)'
	@echo 'make deps-check  install the packages for the tests in a clean Debian 12, and look for every program'
	@echo '               that the tests call (needs root)'
	@echo 'make clean     remove the build and the data of make run'

deps:
	@packaging/deps.sh packaging/debian-packages.txt

deps-test:
	@packaging/deps.sh packaging/debian-packages.txt packaging/debian-packages-test.txt

.PHONY: deps-test-long test-long
deps-test-long:
	@packaging/deps.sh packaging/debian-packages.txt packaging/debian-packages-test.txt \
		packaging/debian-packages-test-long.txt

# Not part of make test, because it downloads every package.
deps-check:
	@packaging/deps-check.sh

# Fails immediately, not only when the first network namespace is made.
root:
	@[ "$$(id -u)" -eq 0 ] || { \
		echo 'make $(NEEDS_ROOT) needs root, for network namespaces and captures: sudo make $(NEEDS_ROOT)' >&2; \
		exit 1; }

# Each time, because the toolchain may be another one.
.PHONY: $(ICU)
$(ICU):
	@SWIFT=$(SWIFT) packaging/icu-data.py $@

build: $(ICU)
	$(SWIFT) build $(RELEASE) --product iotvideod
	$(SWIFT) build $(RELEASE) --product iotctl

run: deps build
	@packaging/run.sh "$(CURDIR)/$(BIN)" '$(CAMERA)' '$(HUB)'

# Root is checked first, also with make -j.
test test-long interop attack: | root
deps-test deps-test-long: | $(if $(NEEDS_ROOT),root)

test: deps-test lint
	$(SWIFT) build --build-tests
	@# These tests compute for seconds without a pause. One test for each core and no more: a test that waits for a
	@# thread of the pool would miss its deadlines.
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$$(nproc) \
		$(FAILURES_LAST) $(SWIFT) test --skip-build --filter '$(COMPUTING_TESTS)'
	@# Real brokers, processes and time: one test at a time, because on an overloaded machine pictures are late and
	@# tokens expire. These mostly wait, so the tests of the API can run beside them.
	Tests/at-once.sh \
		'$(FAILURES_LAST) $(SWIFT) test --skip-build --no-parallel --skip "$(COMPUTING_TESTS)" --skip "$(PATIENT_TESTS)" --skip EndToEndTests --skip InteropTests' \
		'nice -n 10 $(call RUN_TESTS,$(PATIENT_TESTS))' \
		Tests/operations/backup.sh Tests/operations/two-boxes.sh Tests/operations/upgrade.sh \
		'Tests/api/python-client.sh && Tests/api/schemathesis.sh'
	@# These wait, too: two at a time.
	Tests/at-once.sh '$(call END_TO_END,[A-OST])' '$(call END_TO_END,[P-RU-Z])'
	Tests/AttackTests/attack.sh
	Tests/InteropTests/run.sh

# Does not repeat make test: other seeds, longer runs, and tests that need a release build.
test-long: deps-test-long build
	$(SWIFT) build --build-tests
	Tests/api/typescript-client.sh
	MAX_EXAMPLES=$${MAX_EXAMPLES:-200} Tests/api/schemathesis.sh
	SOAK_CYCLES=$${SOAK_CYCLES:-5000} $(FAILURES_LAST) $(SWIFT) test --skip-build --no-parallel --filter PeerSoakTests
	CHAOS_SEEDS=$${CHAOS_SEEDS:-1000..<1020} \
		$(FAILURES_LAST) $(SWIFT) test --skip-build --no-parallel --filter VirtualChaosTests
	CHAOS_SEED=$${CHAOS_SEED:-1000} CHAOS_SECONDS=$${CHAOS_SECONDS:-600} \
		$(FAILURES_LAST) $(SWIFT) test --skip-build --no-parallel --filter 'EndToEndTests\.(ChaosTests|DurabilityTests)'
	LONG_TESTS=1 $(FAILURES_LAST) $(SWIFT) test --skip-build --no-parallel --filter "EndToEndTests\.RTSPServerTests"
	KILLS=$${KILLS:-200} Tests/operations/recording-kills.sh
	POWER_CUTS=$${POWER_CUTS:-200} RECORDED_SECONDS=$${RECORDED_SECONDS:-3600} $(FAILURES_LAST) \
		$(SWIFT) test --skip-build --no-parallel --filter 'RecordingStoreTests\.(PowerCutTests|RealDiskTests)'
	RECORDING_PREFIXES=all $(FAILURES_LAST) $(SWIFT) test --skip-build --no-parallel --filter RecordingStoreTests.CrashTests
	$(MAKE) --no-print-directory deb-test

# A missing peer is a failure: no test is skipped.
interop: deps-test
	$(SWIFT) build --build-tests
	Tests/InteropTests/run.sh

# Needs the machine for itself, because it checks times.
attack: deps-test build
	DAEMON=$(CURDIR)/$(BIN)/iotvideod Tests/AttackTests/attack.sh --goals --seconds $${ATTACK_SECONDS:-3600}

lint:
	@echo 'swift format lint'
	@$(SWIFT) format lint --strict $(SWIFT_FILES)
	@echo 'targets, floors and imports'
	@SWIFT=$(SWIFT) Tests/lint/targets.py

bench: deps-test build
	$(SWIFT) build $(RELEASE) --product hub-bench
	$(SWIFT) build $(RELEASE) --product directory-probe
	$(SWIFT) build -c release --package-path Benchmarks
	@python3 Benchmarks/bench.py $(BIN)
	@# Only these need root.
	@[ "$$(id -u)" -ne 0 ] || python3 Benchmarks/discovery.py $(BIN)
	@[ "$$(id -u)" -ne 0 ] || python3 Benchmarks/delays.py $(BIN) Benchmarks/.build/release/peer-bench
	@python3 Benchmarks/fanout.py $(BIN) Benchmarks/.build/release/peer-bench
	@python3 Benchmarks/rtsp.py $(BIN)
	@python3 Benchmarks/live.py $(BIN)
	@python3 Benchmarks/talk.py $(BIN)
	@python3 Benchmarks/playback.py $(BIN)
	@python3 Benchmarks/recordings.py $(BIN)
	@Benchmarks/.build/release/peer-bench

fuzz: deps
	@SWIFT=$(SWIFT) Fuzz/fuzz.sh

soak: deps-test build
	SOAK_CYCLES=$${SOAK_CYCLES:-40000} $(SWIFT) test --filter PeerSoakTests
	@python3 Tests/soak/soak.py $(BIN)

# Only after larger changes: the output is committed. Needs valgrind.
.PHONY: startup-order
startup-order: build
	@packaging/startup-order.py $(BIN)

# Only after a change of Protobuf/*.proto: the output is committed.
.PHONY: protobuf
protobuf:
	@SWIFT=$(SWIFT) Protobuf/generate.sh

format:
	$(SWIFT) format --in-place $(SWIFT_FILES)

# Run `make build` first; this may then run as root without a toolchain.
install: install-documents
	install -D -s -m 0755 $(BIN)/iotvideod '$(DESTDIR)$(PREFIX)/bin/iotvideod'
	install -D -s -m 0755 $(BIN)/iotctl '$(DESTDIR)$(PREFIX)/bin/iotctl'
	install -d '$(DESTDIR)$(PREFIX)/lib/systemd/system'
	sed 's|@PREFIX@|$(PREFIX)|' packaging/iotvideod.service > '$(DESTDIR)$(PREFIX)/lib/systemd/system/iotvideod.service'
	@# Administrators copy these files for a camera's provisioning mode (docs/provisioning.md).
	install -d '$(DESTDIR)$(PREFIX)/share/iotvideod/provisioning'
	install -m 0644 packaging/provisioning/* '$(DESTDIR)$(PREFIX)/share/iotvideod/provisioning'
	@# Not switched on by itself: an administrator enables iotvideod-upgrade.path (docs/firmware.md).
	install -D -m 0755 packaging/upgrade/install-release '$(DESTDIR)$(PREFIX)/lib/iotvideod/install-release'
	sed 's|@PREFIX@|$(PREFIX)|' packaging/upgrade/iotvideod-upgrade.service > \
		'$(DESTDIR)$(PREFIX)/lib/systemd/system/iotvideod-upgrade.service'
	install -m 0644 packaging/upgrade/iotvideod-upgrade.path '$(DESTDIR)$(PREFIX)/lib/systemd/system/'
	install -D -m 0644 packaging/iotvideod.sysusers '$(DESTDIR)$(PREFIX)/lib/sysusers.d/iotvideod.conf'
	@# An existing configuration belongs to the administrator and is kept.
	test -e '$(DESTDIR)/etc/iotvideod/iotvideod.yaml' || \
		install -D -m 0644 packaging/iotvideod.yaml '$(DESTDIR)/etc/iotvideod/iotvideod.yaml'
	install -D -m 0644 man/iotvideod.8 '$(DESTDIR)$(PREFIX)/share/man/man8/iotvideod.8'
	install -D -m 0644 man/iotvideod.yaml.5 '$(DESTDIR)$(PREFIX)/share/man/man5/iotvideod.yaml.5'
	install -D -m 0644 man/iotctl.1 '$(DESTDIR)$(PREFIX)/share/man/man1/iotctl.1'
	install -D -m 0644 docs/examples/openapi-python-client.yaml \
		'$(DESTDIR)$(PREFIX)/share/doc/iotvideod/openapi-python-client.yaml'
	install -d '$(DESTDIR)$(PREFIX)/share/bash-completion/completions' \
		'$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions' '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d'
	$(BIN)/iotctl --generate-completion-script bash > '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/iotctl'
	$(BIN)/iotctl --generate-completion-script zsh > '$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_iotctl'
	$(BIN)/iotctl --generate-completion-script fish > '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/iotctl.fish'
	$(BIN)/iotvideod --generate-completion-script bash > \
		'$(DESTDIR)$(PREFIX)/share/bash-completion/completions/iotvideod'
	install -D -m 0644 LICENSE '$(DESTDIR)$(PREFIX)/share/doc/iotvideod/LICENSE'
	@echo 'Next: systemd-sysusers && systemctl daemon-reload && systemctl enable --now iotvideod'

# Messages and the configuration refer to these documents.
# docs/README.md is the index for readers of the repository: it links to files that are not installed.
install-documents:
	install -d '$(DESTDIR)$(PREFIX)/share/doc/iotvideod'
	install -m 0644 $(filter-out docs/README.md,$(wildcard docs/*.md)) docs/openapi.yaml CHANGELOG.md \
		'$(DESTDIR)$(PREFIX)/share/doc/iotvideod'

# Run `make build` first, as for install.
deb:
	@packaging/deb/build.sh $(BIN) .build/deb

deb-test:
	@DEB_LEVEL=0 packaging/deb/build.sh $(BIN) .build/deb/test
	@DEB_LEVEL=0 packaging/deb/build.sh $(BIN) .build/deb/test "$$($(BIN)/iotvideod --version)+test1"
	@version=$$($(BIN)/iotvideod --version) arch=$$(dpkg --print-architecture) && packaging/deb/test.sh \
		.build/deb/test/iotvideod_$${version}_$$arch.deb .build/deb/test/iotvideod_$${version}+test1_$$arch.deb \
		Samples/street-h264-aac.mp4

clean:
	rm -rf .build .run
