import Testing

/// Data channels with aiortc, an independent SCTP and DCEP implementation. Run by Tests/InteropTests/run.sh.
@Suite(.serialized) struct AiortcDataChannelTests {
    private let exchange = DataChannelExchange { try PythonPeer("aiortc_peer.py") }

    @Test("Our channel: the peer echoes 1 MiB in messages of 64,000 bytes, and we close it", .timeLimit(.minutes(2)))
    func ourChannel() async throws {
        try await exchange.ourChannel()
    }

    @Test("The peer's offer and channel: 1 MiB arrives unchanged, and the peer closes it", .timeLimit(.minutes(2)))
    func theirChannel() async throws {
        try await exchange.theirChannel()
    }

    @Test("If the peer ends the connection, our channels close", .timeLimit(.minutes(1)))
    func theyEnd() async throws {
        try await exchange.theyEnd()
    }
}
