import IoTCore
import NIOCore

@testable import NetConfig

extension FuzzTarget {
    /// A datagram of the plaintext scheme, received by a device in each of its states and by a client.
    static let plaintext = FuzzTarget(
        "plaintext",
        cost: ReadingCost { input in
            _ = try? PlaintextRequest(parsing: input)
            _ = PlaintextReply(parsing: input)
        }
    ) { input in
        // The written request may be longer, because a character can be escaped in several ways.
        if let request = try? PlaintextRequest(parsing: input), request.bytes.count <= PlaintextRequest.largest {
            let again = try PlaintextRequest(parsing: request.bytes)
            try require(again == request, "\(input) was written as \(request.bytes)")
        }
        try PlaintextFuzz.device(input)
        try PlaintextFuzz.client(input)
    }
}

private enum PlaintextFuzz {
    private static let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private static let outcomes: [WiFiOutcome?] = [
        nil, .wrongPassword, .connected(WiFiConnection(ssid: [0x61])),
    ]

    /// No answer is longer than its request, and accepted values are valid.
    static func device(_ input: [UInt8]) throws {
        let known = PlaintextRequest(credentials: try WiFiCredentials(ssid: "Home", password: "correct horse")).bytes
        for outcome in outcomes {
            var device = PlaintextDevice(
                .init(
                    identity: DeviceIdentity(id: "front"), productID: "iotvideod", hub: "iotlink://192.0.2.2:1",
                    lifetime: .minutes(10), binds: true), at: now)
            if let outcome {
                _ = device.receive(known, isOnLink: true, at: now)
                device.joining.applied(outcome, at: now)
            }
            _ = device.joining.takeSteps()
            try require(device.receive(input, isOnLink: false, at: now) == nil, "it answers an address off the link")
            let reply = device.receive(input, isOnLink: true, at: now)
            try require(reply?.count ?? 0 <= input.count, "an answer of \(reply?.count ?? 0) bytes to \(input.count)")
            if let reply { try require(PlaintextReply(parsing: reply) != nil, "an answer that cannot be read") }
            for case .apply(let credentials) in device.joining.takeSteps() {
                _ = try WiFiCredentials(ssid: credentials.ssid, password: credentials.password)
            }
            if let order = device.joining.order { _ = try BindOrder(hub: order.hub, token: order.token) }
        }
    }

    /// The client ends or continues, and its texts contain no control characters and no secret.
    static func client(_ input: [UInt8]) throws {
        var client = PlaintextClient(try WiFiCredentials(ssid: "Home", password: "correct horse"), bind: nil)
        client.start(at: now)
        client.receive(input, at: now)
        while let output = client.poll() {
            let text: String
            switch output {
            case .finished(.success(let outcome)): text = outcome.device?.id ?? ""
            case .finished(.failure(let error)): text = error.description
            case .progress(.retrying(let reason)): text = reason
            default: continue
            }
            let isShown = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            try require(isShown, "a control character is shown")
            try require(!text.contains("correct horse"), "a secret is shown")
        }
    }
}
