// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "iotvideod", path: "../"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // The reference loops in C, and a counter of allocations.
        .target(name: "CReference", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .executableTarget(
            name: "peer-bench",
            dependencies: [
                "CReference",
                .product(name: "IoTCore", package: "iotvideod"),
                .product(name: "RTP", package: "iotvideod"),
                .product(name: "PeerTransport", package: "iotvideod"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
                // Requires an import for each used module, as for other users of the libraries.
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ]
)
