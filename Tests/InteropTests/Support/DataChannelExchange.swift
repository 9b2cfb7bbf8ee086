import IoTCore
import NIOCore
import PeerTransport
import Testing

/// The data channel test, the same for each kind of peer.
struct DataChannelExchange {
    /// False for a peer that receives empty messages but cannot send them.
    var echoesEmptyMessages = true
    let makePeer: @Sendable () throws -> PythonPeer

    private func withPeers(
        configure: @escaping (inout PeerConfiguration) -> Void = { _ in },
        _ body: (ShellPeer, PythonPeer, Signalling) async throws -> Void
    ) async throws {
        let theirs = try makePeer()
        let ours = try await ShellPeer { configuration in
            configuration.dataChannels = DataChannelConfiguration()
            configure(&configuration)
        }
        let signalling = Signalling(ours, theirs)
        defer { signalling.end() }
        do {
            _ = try await theirs.next("ready")
            try await body(ours, theirs, signalling)
        } catch {
            await ours.socket.close()
            throw error
        }
        await ours.socket.close()
    }

    /// 16 messages of 64,000 bytes, and the rest of 1 MiB.
    private static let sizes = Array(repeating: 64_000, count: 16) + [(1 << 20) - 16 * 64_000]

    private func echo(_ ours: ShellPeer, on channel: DataChannel) async throws {
        var sent: [DataChannelMessage] = [
            .text("Grüße"), .text(""), .binary(ByteBuffer()), .binary(ByteBuffer(bytes: [0, 255, 1])),
        ]
        for (index, size) in Self.sizes.enumerated() {
            sent.append(.binary(ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index) })))
        }
        for message in sent { try await ours.send(message, on: channel.id) }
        for message in sent where echoesEmptyMessages || message.byteCount > 0 {
            let isSame = try await ours.message(on: channel.id) == message
            #expect(isSame)
        }
    }

    /// Our channel: the peer echoes 1 MiB in messages of 64,000 bytes, and we close it.
    func ourChannel() async throws {
        try await withPeers { ours, theirs, signalling in
            try await ours.run { try $0.openDataChannel(label: "ours", subprotocol: "iot.1") }
            try await signalling.offer()
            let channel = try await ours.opened("ours")
            let told = try await theirs.next("channel")
            #expect(told["label"] == .string("ours") && told["protocol"] == .string("iot.1"))
            #expect(told["ordered"] == .bool(true) && told["id"] == .integer(Int64(channel.streamID ?? 99)))
            try await echo(ours, on: channel)
            let statistics = try await ours.run { $0.statistics }
            #expect(statistics.dataChannels.first?.messagesReceived == (echoesEmptyMessages ? 21 : 19))
            #expect(statistics.sctpTransport?.smoothedRoundTripTime != nil)
            try await ours.run { $0.closeDataChannel(channel.id) }
            #expect(try await theirs.next("closed")["label"] == .string("ours"))
            #expect(try await ours.closed(channel.id) == nil)
            // The closed channel's stream can be used again, and the association still works.
            try await ours.run { try $0.openDataChannel(label: "again") }
            let again = try await ours.opened("again")
            #expect(again.streamID == channel.streamID)
            try await ours.send(.text("x"), on: again.id)
            #expect(try await ours.message(on: again.id) == .text("x"))
        }
    }

    /// The peer's offer and channel: 1 MiB arrives unchanged, and the peer closes it.
    func theirChannel() async throws {
        try await withPeers(configure: { $0.isControlling = false }) { ours, theirs, signalling in
            try await signalling.answer([
                "do": .string("offer"),
                "channels": .array([
                    .object(["label": .string("echo")]),
                    .object([
                        "label": .string("sink"), "ordered": .bool(false), "maxRetransmits": .integer(3),
                        "protocol": .string("p"),
                    ]),
                ]),
            ])
            let channels = try await ours.opened(["echo", "sink"])
            let channel = try #require(channels["echo"])
            #expect(channel.isRemote)
            let sink = try #require(channels["sink"])
            #expect(!sink.options.isOrdered && sink.options.reliability == .maxRetransmits(3))
            #expect(sink.subprotocol == "p")
            for index in 0..<50 { try await ours.send(.text("\(index)"), on: sink.id) }
            try theirs.tell([
                "do": .string("send"), "label": .string("echo"),
                "sizes": .array(Self.sizes.map { .integer(Int64($0)) }),
            ])
            for size in Self.sizes {
                let message = try await ours.message(on: channel.id)
                #expect(message.byteCount == size)
                try await ours.send(message, on: channel.id)
            }
            try theirs.tell(["do": .string("close"), "label": .string("echo")])
            #expect(try await theirs.next("closed")["label"] == .string("echo"))
            #expect(try await ours.closed(channel.id) == nil)
            try theirs.tell(["do": .string("report"), "label": .string("echo")])
            let report = try await theirs.next("report")
            #expect(report["sent"] == .integer(17))
            // If everything came back before the close, it is unchanged.
            if report["received"] == .integer(17) { #expect(report["sentHash"] == report["receivedHash"]) }
            try theirs.tell(["do": .string("report"), "label": .string("sink")])
            #expect(try await theirs.next("report")["received"] == .integer(50))
        }
    }

    /// If the peer ends the connection, our channels close.
    func theyEnd() async throws {
        try await withPeers { ours, theirs, signalling in
            try await ours.run { try $0.openDataChannel(label: "ours") }
            try await signalling.offer()
            let channel = try await ours.opened("ours")
            try await ours.send(.text("x"), on: channel.id)
            #expect(try await ours.message(on: channel.id) == .text("x"))
            try theirs.tell(["do": .string("end")])
            _ = try await ours.closed(channel.id)
        }
    }
}
