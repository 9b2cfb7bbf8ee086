import IoTCore
import PeerTransport
import RTP
import Testing

/// GStreamer's webrtcbin: ICE by libnice, SCTP by usrsctp, its own RTP. Run by Tests/InteropTests/run.sh.
@Suite(.serialized) struct GStreamerTests {
    /// The Python bindings are Debian's, so only the system's Python has them.
    @Sendable private static func makePeer(_ arguments: [String] = []) throws -> PythonPeer {
        try PythonPeer("gstreamer_peer.py", arguments: arguments, python: "/usr/bin/python3")
    }

    private let exchange = DataChannelExchange(echoesEmptyMessages: false) {
        try GStreamerTests.makePeer(["--data"])
    }

    @Test("Our channel: the peer echoes 1 MiB in messages of 64,000 bytes, and we close it", .timeLimit(.minutes(2)))
    func ourChannel() async throws {
        try await exchange.ourChannel()
    }

    @Test("The peer's offer and channel: 1 MiB arrives unchanged, and the peer closes it", .timeLimit(.minutes(2)))
    func theirChannel() async throws {
        try await exchange.theirChannel()
    }

    @Test(
        "webrtcbin decodes its own pictures and sound when we echo them, with channels of both sides, whichever offers",
        .timeLimit(.minutes(2)), arguments: [false, true])
    func echo(isOfferOurs: Bool) async throws {
        let theirs = try Self.makePeer()
        try await MediaEcho.run(
            with: theirs, isOfferOurs: isOfferOurs,
            // Without a channel its offer has no section for channels.
            offer: ["do": .string("offer"), "channels": .array([.object(["label": .string("theirs")])])],
            configure: { configuration in
                configuration.dataChannels = DataChannelConfiguration()
                configuration.hasAllHostAddresses = false
            },
            during: { signalling in try await talk(signalling, isOfferOurs: isOfferOurs) }
        ) { report, statistics in
            #expect(report["format"]?["video"] == .array([.integer(320), .integer(240)]), "\(report)")
            #expect(report["corrupted"] == .integer(0), "\(report)")
            // The received sound is not silent (dB of full scale).
            #expect((report["format"]?["audio"]?.arrayValue?.first?.doubleValue ?? -700) > -30, "\(report)")
            let received = statistics.inbound.values.map { Int64($0.framesReceived) }.sorted()
            let sent = ["video", "audio"].map { report["sent"]?[$0]?.integerValue ?? .max }
            for (received, sent) in zip(received, sent) {
                #expect(received >= sent - 15, "\(sent) frames sent, \(received) received")
            }
            // Its feedback contains what arrives, by transport-wide sequence number.
            #expect((statistics.acknowledgedBitrate ?? 0) > 20_000)
        }
    }

    /// Neither description contains a candidate: all of them trickle.
    private func talk(_ signalling: Signalling, isOfferOurs: Bool) async throws {
        let (ours, theirs) = (signalling.ours, signalling.theirs)
        #expect(try await ours.run { $0.localDescription?.text.contains("candidate:") } == false)
        #expect(try await ours.run { $0.remoteDescription?.text.contains("candidate:") } == false)
        let addresses = ours.socket.hostAddresses
        try await ours.run { peer in
            for address in addresses { peer.addHostAddress(address) }
            peer.endHostAddresses()
        }
        try await ours.run { try $0.openDataChannel(label: "ours") }
        if isOfferOurs {
            try theirs.tell(["do": .string("open"), "channel": .object(["label": .string("theirs")])])
        }
        let channels = try await ours.opened(["ours", "theirs"])
        let channel = try #require(channels["ours"])
        let other = try #require(channels["theirs"])
        #expect(other.isRemote && !channel.isRemote)
        try await ours.send(.text("Grüße"), on: channel.id)
        #expect(try await ours.message(on: channel.id) == .text("Grüße"))
        try theirs.tell(["do": .string("send"), "label": .string("theirs"), "sizes": .array([.integer(64_000)])])
        #expect(try await ours.message(on: other.id).byteCount == 64_000)
    }
}
