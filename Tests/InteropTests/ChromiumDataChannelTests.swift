import Testing

/// Data channels with Chromium (dcsctp). Run by Tests/InteropTests/run.sh.
@Suite(.serialized) struct ChromiumDataChannelTests {
    private let exchange = DataChannelExchange { try PythonPeer("chromium_peer.py") }

    @Test("A channel of ours: 1 MiB in messages of 64,000 bytes comes back, and we close it", .timeLimit(.minutes(2)))
    func ourChannel() async throws {
        try await exchange.ourChannel()
    }

    @Test("A channel of theirs, which offer: 1 MiB arrives as it was sent, and they close it", .timeLimit(.minutes(2)))
    func theirChannel() async throws {
        try await exchange.theirChannel()
    }

    @Test("The peer's end of the connection closes our channels", .timeLimit(.minutes(1)))
    func theyEnd() async throws {
        try await exchange.theyEnd()
    }
}
