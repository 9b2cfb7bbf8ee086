import NIOCore

@testable import PeerTransport

extension FuzzTarget {
    /// A stream gives the same messages however it is cut; a malicious server causes neither a trap nor unbounded
    /// storage in the client.
    static let turn = FuzzTarget("turn") { input in
        let whole = decode(input, step: max(1, input.count))
        let bytewise = decode(input, step: 1)
        try require(whole == bytewise, "a stream that arrives byte by byte gives other messages")
        try require(whole.allSatisfy { $0.readableBytes <= TURNStreamDecoder.maximumMessage }, "a message is too long")

        var client = TURNClient(
            configuration: TURNClient.Configuration(username: "user", credential: "secret"),
            generator: FuzzRandom())
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        client.start(at: now)
        var lastID: ByteBuffer?
        let peer = try SocketAddress(ipAddress: "192.0.2.9", port: 9)
        for var datagram in datagrams(input) {
            var outputs = 0
            while let output = client.poll() {
                outputs += 1
                try require(outputs <= 200, "one message causes more than 200 outputs")
                if case .transmit(let sent) = output {
                    try require(sent.readableBytes <= 2_048, "a message of \(sent.readableBytes) bytes")
                    lastID = sent.getSlice(at: sent.readerIndex + 8, length: 12) ?? lastID
                }
            }
            // The fuzzer cannot guess the id of the request to answer.
            if let lastID, datagram.readableBytes >= 20 { datagram.setBuffer(lastID, at: datagram.readerIndex + 8) }
            client.receive(datagram, at: now)
            client.send(ByteBuffer(bytes: [1, 2, 3]), to: peer, at: now)
            now = now + .milliseconds(300)
            client.handleTimeout(at: now)
            try require(client.requests.count <= 200 && client.held.count <= TURNClient.maximumHeld, "too much waits")
            try require(client.permissions.count <= TURNClient.maximumPermissions, "too many permissions")
        }
    }

    private static func decode(_ input: [UInt8], step: Int) -> [ByteBuffer] {
        var decoder = TURNStreamDecoder()
        var messages: [ByteBuffer] = []
        var place = 0
        while place < input.count {
            let end = min(place + step, input.count)
            guard decoder.receive(ByteBuffer(bytes: input[place..<end]), { messages.append($0) }) else { break }
            place = end
        }
        return messages
    }
}

/// Generates the same numbers in each run.
struct FuzzRandom: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
