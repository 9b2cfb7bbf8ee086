import IoTCore
import NIOCore

@testable import NetConfig

extension FuzzTarget {
    /// The first byte chooses where the rest arrives: at a device before a session, inside its session, or as a
    /// device's answer to a client.
    static let provisioning = FuzzTarget(
        "provisioning",
        // SwiftProtobuf copies the unknown fields at each repetition of a message within a oneof, so its time is quadratic:
        // 0.2 s for 64 KiB under AddressSanitizer. No reader here accepts so much.
        cost: ReadingCost(size: ProvisioningHTTPConnection.largestReply) { input in
            for place in 0..<12 as Range<UInt8> { _ = try? ProvisioningFuzz.check(place, input) }
        }
    ) { input in
        guard let place = input.first else { return }
        try ProvisioningFuzz.check(place % 12, Array(input.dropFirst()))
    }
}

private enum ProvisioningFuzz {
    private static let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private static let bytes: @Sendable (Int) -> [UInt8] = { [UInt8](repeating: 7, count: $0) }

    static func check(_ place: UInt8, _ input: [UInt8]) throws {
        switch place {
        case 0...3: try knock(place, input)
        case 4: try inside(.scan, input)
        case 5: try inside(.config, input)
        case 6: try inside(.bind, input)
        case 7: _ = ProvisioningVersion(parsing: input)
        default: try answer(place, input)
        }
    }

    private static func device() -> ProvisioningDevice {
        ProvisioningDevice(
            .init(credential: .possession("abcd1234"), identity: DeviceIdentity(id: "camera")), at: now, random: bytes)
    }

    /// Without the secret no session opens, and the device does nothing.
    private static func knock(_ place: UInt8, _ input: [UInt8]) throws {
        var device = device()
        let endpoint = ["prov-session", "prov-config", "iotlink-bind", "proto-ver"][Int(place)]
        for request in 0..<2 {
            device.handle(
                ProvisioningRequest(endpoint: endpoint, body: input), from: .init(connection: 1, request: request),
                at: now)
        }
        var replies = 0
        while let output = device.poll() {
            switch output {
            case .reply(let reply, _):
                replies += 1
                try require(reply.body.count <= ProvisioningReply.largestBody, "an answer of \(reply.body.count) bytes")
                try require(reply.status != 200 || place == 0 || place == 3, "it was accepted without a session")
            case .join(.timeout): break
            case .scan, .join: try require(false, "it did something for a stranger")
            }
        }
        try require(replies == 2, "\(replies) answers to two requests")
        try require(!device.takeEvents().contains(.authenticated), "a session opened")
    }

    /// With the secret everything that the device accepts is valid.
    private static func inside(_ endpoint: ProvisioningEndpoint, _ input: [UInt8]) throws {
        var device = device()
        device.scanned(
            (0..<80).map {
                WiFiNetwork(
                    ssid: [UInt8](repeating: 0x61, count: 32), bssid: [1, 2, 3, 4, 5, UInt8($0)], channel: 165,
                    rssi: -90,
                    authentication: .wpa2OrWPA3)
            }, at: now)
        if case .body(let body)? = device.answer(input, endpoint, at: now) {
            try require(body.count + 16 <= ProvisioningReply.largestBody, "an answer of \(body.count) bytes")
        }
        if let credentials = device.credentials {
            _ = try WiFiCredentials(ssid: credentials.ssid, password: credentials.password)
        }
        if let order = device.joining.order { _ = try BindOrder(hub: order.hub, token: order.token) }
    }

    /// A client ends or continues, and its texts contain no control characters for a terminal.
    private static func answer(_ place: UInt8, _ input: [UInt8]) throws {
        let credential: ProvisioningCredential =
            place == 8 ? .possession("abcd1234") : .password(user: "u", password: "p")
        let plan = ProvisioningPlan(
            credential: credential, network: try WiFiCredentials(ssid: "Home", password: "correct horse"))
        if place < 10 {
            var handshake = try ClientHandshake(credential, random: bytes)
            _ = try? handshake.prove(input)
            _ = try? handshake.finish(input)
            return
        }
        var client = ProvisioningClient(plan, random: bytes)
        for step in [.scanStart, .scanStatus, .scanResult, .set, .apply, .status, .order, .bindState]
            as [ProvisioningClient.Step]
        {
            _ = try? client.read(input, step, at: now)
        }
        try require(client.outcome.networks.count <= ProvisioningClient.largestScan, "too many networks")
        let texts = [client.outcome.connection?.address, client.outcome.device?.id].compactMap { $0 }
        let isShown = texts.allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
        try require(isShown, "a control character is shown")
    }
}
