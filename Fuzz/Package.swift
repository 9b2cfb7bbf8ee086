// swift-tools-version: 6.2
import PackageDescription

// fuzz.sh builds it, with the sanitizers.
let package = Package(
    name: "Fuzz",
    dependencies: [
        .package(name: "iotvideod", path: "../"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "peer-fuzz",
            dependencies: [
                .product(name: "IoTCore", package: "iotvideod"),
                .product(name: "RTP", package: "iotvideod"),
                .product(name: "RTSP", package: "iotvideod"),
                .product(name: "PeerTransport", package: "iotvideod"),
                .product(name: "MediaChannel", package: "iotvideod"),
                .product(name: "IoTLink", package: "iotvideod"),
                .product(name: "NetConfig", package: "iotvideod"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    ]
)
