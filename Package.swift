// swift-tools-version: 6.2
import PackageDescription

/// The same settings for every target of the package.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func system(_ name: String, pkgConfig: String, apt: [String]) -> Target {
    .systemLibrary(
        name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt(apt)])
}

/// A release build does not check at run time that accesses to a variable are exclusive. Each packet of each viewer, and
/// each frame of a recording, would cost many of these checks, and they cannot fail here: what handles them are values,
/// or objects that only one event loop or thread uses. Debug builds, and so the tests, have the checks.
///
/// Another package that depends on this one by its version must not get such flags, so they are left out there.
let uncheckedExclusivity: [SwiftSetting] =
    Context.packageDirectory.contains("/checkouts/")
    ? [] : [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

func library(
    _ name: String, _ dependencies: [Target.Dependency], settings additional: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings + additional)
}

/// `standsInFor`: functions of shared libraries that the tests replace; without the flag the linker would not export
/// them to the libraries.
func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], standsInFor functions: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude, swiftSettings: settings,
        linkerSettings: functions.isEmpty
            ? [] : [.unsafeFlags(functions.flatMap { ["-Xlinker", "--export-dynamic-symbol=\($0)"] })])
}

/// A third of a small daemon's memory is its own file. Nothing looks up its symbols, its relocations take 3.5 MB unless
/// they are packed (glibc reads packed ones since 2.36, Debian 12, but gold cannot pack them), and its tables for
/// unwinding take 12 MB.
let programLinking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "-z", "-Xlinker", "now",
            "-Xlinker", "--no-eh-frame-hdr",
            "-Xlinker", "-T", "-Xlinker", "\(Context.packageDirectory)/packaging/no-unwind-tables.ld",
        ], .when(platforms: [.linux], configuration: .release))
]

/// Places the functions that an idle daemon uses together: 10 MB less memory (docs/performance.md). The file is written
/// by `make startup-order`; names in it that no longer exist are ignored.
let startupOrder = LinkerSetting.unsafeFlags(
    [
        "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/packaging/startup-order.txt",
        "-Xlinker", "--no-warn-symbol-ordering",
    ], .when(platforms: [.linux], configuration: .release))

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let package = Package(
    name: "iotvideod",
    products: [
        .executable(name: "iotvideod", targets: ["iotvideod"]),
        .executable(name: "iotctl", targets: ["iotctl"]),
        // The public API of the libraries below uses their types: errors, frames and JSON values; codecs and packets.
        .library(name: "IoTCore", targets: ["IoTCore"]),
        .library(name: "RTP", targets: ["RTP"]),
        .library(name: "RTSP", targets: ["RTSP"]),
        .library(name: "PeerTransport", targets: ["PeerTransport"]),
        .library(name: "IoTLink", targets: ["IoTLink"]),
        .library(name: "ThingModel", targets: ["ThingModel"]),
        .library(name: "MediaChannel", targets: ["MediaChannel"]),
        .library(name: "MediaPlayer", targets: ["MediaPlayer"]),
        .library(name: "NetConfig", targets: ["NetConfig"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    ],
    targets: [
        // Layer 1: system libraries, and files in C.
        system(
            "CFFmpeg", pkgConfig: "libavformat libavcodec libswscale libswresample libavutil",
            apt: ["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libswresample-dev", "libavutil-dev"]),
        system("COpenSSL", pkgConfig: "libssl libcrypto", apt: ["libssl-dev"]),
        system("COpus", pkgConfig: "opus", apt: ["libopus-dev"]),
        system("CMosquitto", pkgConfig: "libmosquitto", apt: ["libmosquitto-dev"]),
        system("CQREncode", pkgConfig: "libqrencode", apt: ["libqrencode-dev"]),
        system("CPNG", pkgConfig: "libpng", apt: ["libpng-dev"]),
        system("CExpat", pkgConfig: "expat", apt: ["libexpat1-dev"]),
        // Parts of glibc, which every program needs.
        .systemLibrary(name: "CMalloc", path: "Sources/SystemLibraries/CMalloc"),
        .systemLibrary(name: "CFileSpace", path: "Sources/SystemLibraries/CFileSpace"),
        .systemLibrary(name: "CExtendedAttributes", path: "Sources/SystemLibraries/CExtendedAttributes"),
        .systemLibrary(name: "CClockState", path: "Sources/SystemLibraries/CClockState"),
        // A header of the kernel.
        .systemLibrary(name: "CVideo4Linux", path: "Sources/SystemLibraries/CVideo4Linux"),
        .target(name: "EmbeddedFiles"),

        // Layer 2
        library("IoTCore", [nioCore, crypto]),
        library("RTP", ["IoTCore", nioCore], settings: uncheckedExclusivity),

        // Layer 3
        library("Firmware", ["IoTCore", crypto]),
        library("GatewayAPI", ["IoTCore"]),
        library("Sealing", ["IoTCore", crypto, nioCore]),
        library("CameraTLS", ["IoTCore", nioCore, nioSSL]),
        library("IoTLink", ["IoTCore", "CMosquitto", "COpenSSL", crypto, nioCore, logging, lifecycle]),
        library(
            "PeerTransport", ["IoTCore", "RTP", "COpenSSL", nioCore, nioPosix, logging],
            settings: uncheckedExclusivity),
        library(
            "MediaCodec", ["IoTCore", "CFFmpeg", "COpus", "CVideo4Linux", nioCore, logging],
            settings: uncheckedExclusivity),
        library("RTSP", ["IoTCore", "RTP", "CameraTLS", nioCore, nioPosix]),

        // Layer 4
        library("ThingModel", ["IoTCore", "IoTLink", logging]),
        library(
            "NetConfig",
            [
                "IoTCore", "CameraTLS", "CQREncode", "CPNG", "CExpat", "COpenSSL", crypto, protobuf, nioCore, nioPosix,
                nioHTTP1, logging,
            ]),
        library("MediaPlayer", ["IoTCore", "MediaCodec", nioCore, logging]),
        library(
            "RecordingStore", ["IoTCore", "MediaCodec", "Sealing", "CClockState", "CFileSpace", nioCore, grdb],
            settings: uncheckedExclusivity),

        // Layer 5
        library(
            "LinkHub",
            [
                "IoTCore", "Firmware", "IoTLink", "ThingModel", "COpenSSL", nioCore, logging, lifecycle, grdb,
                crypto,
            ]),
        library(
            "MediaChannel",
            [
                "IoTCore", "RTP", "RTSP", "IoTLink", "ThingModel", "PeerTransport", "MediaCodec", "MediaPlayer",
                "RecordingStore", nioCore, logging, lifecycle,
            ], settings: uncheckedExclusivity),

        library("LANLink", ["IoTCore", "IoTLink", "ThingModel", nioCore, nioPosix, nioSSL, nioTLS, logging]),

        // Layer 6
        library(
            "Gateway",
            [
                "IoTCore", "Firmware", "GatewayAPI", "IoTLink", "ThingModel", "LANLink", "LinkHub", "MediaChannel",
                "MediaPlayer",
                "MediaCodec", "NetConfig", "PeerTransport", "RTP", "RecordingStore", nioCore, nioPosix, coreMetrics,
                logging,
            ]),

        // Layer 7
        .executableTarget(
            name: "iotvideod",
            dependencies: [
                "CMalloc", "EmbeddedFiles", "IoTCore", "Firmware", "GatewayAPI", "IoTLink", "LinkHub", "MediaChannel",
                "MediaCodec", "NetConfig", "PeerTransport", "RTP", "RTSP", "RecordingStore", "LANLink", "ThingModel",
                "Gateway", "Sealing",
                nioCore, nioPosix, nioHTTP1, logging, lifecycle, unixSignals, hummingbird, nioSSL, httpClient,
                coreMetrics, crypto, arguments, yams,
            ],
            swiftSettings: settings, linkerSettings: programLinking + [startupOrder]),
        .executableTarget(
            name: "iotctl",
            dependencies: [
                "IoTCore", "Firmware", "GatewayAPI", "NetConfig", "Sealing", "CExtendedAttributes", nioCore, nioPosix,
                nioHTTP1, nioSSL, httpClient, arguments,
            ],
            swiftSettings: settings, linkerSettings: programLinking),

        // One peer on the command line; run by Tests/InteropTests.
        .executableTarget(
            name: "peer-probe", dependencies: ["PeerTransport", "RTP", "IoTCore", nioCore, nioPosix, logging],
            path: "Tests/InteropTests/Probe", swiftSettings: settings),
        // DNS-SD on the command line; run by Tests/InteropTests/DNSSD.
        .executableTarget(
            name: "directory-probe", dependencies: ["NetConfig", "IoTCore", nioCore, nioPosix, logging],
            path: "Tests/InteropTests/DirectoryProbe", swiftSettings: settings),
        // Speaks to a camera; run by Tests/InteropTests/Talk.
        .executableTarget(
            name: "talk-probe", dependencies: ["MediaChannel", "IoTCore", nioCore, nioPosix, logging],
            path: "Tests/InteropTests/TalkProbe", swiftSettings: settings),
        // The example of docs/peer-transport.md: it has only the access of another package.
        .executableTarget(
            name: "two-peers", dependencies: ["PeerTransport", nioCore, nioPosix, logging],
            path: "Examples/TwoPeers", packageAccess: false, swiftSettings: settings),
        // The example of player parts (docs/player-parts.md): it has only the access of another package.
        .executableTarget(
            name: "player-parts",
            dependencies: [
                "IoTCore", "IoTLink", "MediaChannel", "MediaCodec", "MediaPlayer", "PeerTransport", nioCore, nioPosix,
                logging,
            ],
            path: "Examples/PlayerParts", packageAccess: false, swiftSettings: settings),
        // Benchmarks; built and run by `make bench`.
        .executableTarget(
            name: "hub-bench", dependencies: ["IoTCore", "IoTLink", "LinkHub", "ThingModel", logging],
            path: "Benchmarks/Sources/hub-bench", swiftSettings: settings),

        // Records until it is killed; run by RecordingStoreTests.
        .executableTarget(
            name: "killed-writer", dependencies: ["RecordingStore", "MediaCodec", "IoTCore", nioCore],
            path: "Tests/RecordingStoreTests/KilledWriter", swiftSettings: settings),

        // Shared by all tests.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        // Frames and codecs for the tests of RTP and of the targets that use it.
        .target(
            name: "RTPTestSupport", dependencies: ["RTP", "IoTCore", "TestSupport", nioCore],
            path: "Tests/RTPTestSupport", swiftSettings: settings),
        // Shared by the media tests.
        .target(
            name: "MediaTestSupport",
            dependencies: ["IoTCore", "MediaCodec", "MediaPlayer", "TestSupport", nioCore, logging],
            path: "Tests/MediaTestSupport", swiftSettings: settings),

        tests("IoTCoreTests", ["IoTCore", nioCore]),
        tests("IoTLinkTests", ["IoTLink", "IoTCore", nioCore, logging, lifecycle, crypto]),
        tests("RTPTests", ["RTP", "RTPTestSupport", "IoTCore", nioCore]),
        tests(
            "PeerTransportTests",
            ["PeerTransport", "RTP", "RTPTestSupport", "IoTCore", "COpenSSL", nioCore, nioPosix, logging],
            exclude: ["Fixtures"],
            // The tests replace OpenSSL's clock, and count its public-key operations.
            standsInFor: ["gettimeofday", "EVP_DigestSign", "EVP_DigestVerify", "EVP_PKEY_derive"]),
        tests("RTSPTests", ["RTSP", "RTP", "IoTCore", nioCore, nioPosix, nioSSL]),
        tests(
            "MediaCodecTests", ["MediaCodec", "RTSP", "IoTCore", nioCore, nioPosix, logging],
            exclude: ["Support/rtsp_server.py"]),
        tests("ThingModelTests", ["ThingModel", "IoTCore", "IoTLink", logging]),
        tests(
            "NetConfigTests",
            ["NetConfig", "MediaCodec", "IoTCore", crypto, protobuf, nioCore, nioPosix, nioHTTP1, logging],
            exclude: ["Fixtures", "Discovery/Fixtures"]),
        tests(
            "LANLinkTests",
            ["LANLink", "Gateway", "IoTLink", "ThingModel", "IoTCore", nioCore, nioPosix, nioSSL, logging, crypto]),
        tests(
            "LinkHubTests",
            [
                "LinkHub", "Firmware", "IoTLink", "ThingModel", "IoTCore", "COpenSSL", nioCore, logging, lifecycle,
                grdb, crypto,
            ],
            exclude: ["Fixtures"]),
        tests(
            "MediaPlayerTests",
            ["MediaPlayer", "MediaCodec", "MediaTestSupport", "IoTCore", nioCore, nioPosix, nioEmbedded, logging]),
        tests("SealingTests", ["Sealing", "IoTCore", nioCore]),
        tests(
            "RecordingStoreTests",
            ["RecordingStore", "Sealing", "MediaCodec", "IoTCore", "killed-writer", nioCore, grdb],
            exclude: ["KilledWriter", "RealDisk/LoggedDisk"]),
        tests(
            "MediaChannelTests",
            [
                "MediaChannel", "MediaPlayer", "PeerTransport", "RTP", "RTSP", "MediaCodec", "MediaTestSupport",
                "IoTLink", "RecordingStore",
                "ThingModel", "IoTCore", nioCore, nioPosix, nioEmbedded, logging, crypto,
            ]),
        tests("FirmwareTests", ["Firmware", "IoTCore"]),
        tests("GatewayAPITests", ["GatewayAPI", "IoTCore"]),
        tests(
            "GatewayTests",
            [
                "Gateway", "GatewayAPI", "IoTLink", "ThingModel", "MediaChannel", "NetConfig", "PeerTransport",
                "RTP", "RecordingStore", "IoTCore", nioCore, nioPosix, logging, crypto,
            ]),
        tests(
            "iotvideodTests",
            [
                "iotvideod", "Firmware", "Gateway", "GatewayAPI", "IoTLink", "ThingModel", "MediaChannel", "NetConfig",
                "PeerTransport", "RTP", "RTSP", "RecordingStore", "IoTCore", nioCore, nioEmbedded, nioPosix, nioHTTP1,
                logging, lifecycle, hummingbird, nioSSL,
                coreMetrics, crypto, arguments, yams,
            ]),
        // Replays the fuzzers' corpora with the targets of Fuzz.
        tests(
            "FuzzTests",
            [
                "PeerTransport", "RTP", "RTSP", "MediaChannel", "MediaCodec", "IoTLink", "IoTCore", "Gateway",
                "NetConfig", "Firmware", "LANLink", "iotvideod", nioCore, nioEmbedded, nioHTTP1,
            ]),
        tests("iotctlTests", ["iotctl", "GatewayAPI", "NetConfig", "IoTCore", nioSSL, arguments]),
        // Real processes: needs the packages of packaging/debian-packages-test.txt.
        // The examples of the libraries' pages: they have only the access of another package.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "IoTCore", "IoTLink", "MediaChannel", "MediaCodec", "MediaPlayer", "PeerTransport", "ThingModel",
                nioCore, logging,
            ], packageAccess: false, swiftSettings: settings),
        tests("EndToEndTests", ["iotvideod", "iotctl", "player-parts"]),
        // Independent peers: run by Tests/InteropTests/run.sh.
        tests(
            "InteropTests", ["PeerTransport", "RTP", "NetConfig", "IoTCore", nioCore, nioPosix, logging],
            exclude: [
                "Aiortc", "Chromium", "Coturn", "DNSSD", "DirectoryProbe", "Discovery", "GStreamer", "NAT", "Peers",
                "Probe", "RTSP", "Talk", "TalkProbe", "Unit", "WHEP", "WSDiscovery", "boxes.py", "daemon.py",
                "probes.py", "requirements.txt", "run.sh", "runner.py", "unit_sandbox.py",
            ]),
    ]
)

// Only Fuzz/fuzz.sh builds the fuzzer, because it needs the sanitizers.
if Context.environment["IOTVIDEOD_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "peer-fuzz",
            dependencies: [
                "PeerTransport", "RTP", "RTSP", "MediaChannel", "MediaCodec", "IoTLink", "IoTCore", "NetConfig",
                "Firmware", "LANLink", nioCore, nioEmbedded, nioHTTP1,
            ],
            path: "Fuzz/Sources/peer-fuzz", swiftSettings: settings))
}
