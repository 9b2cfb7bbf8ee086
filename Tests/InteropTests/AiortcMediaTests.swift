import IoTCore
import PeerTransport
import Testing

/// H.264 and Opus both ways with aiortc. Run by Tests/InteropTests/run.sh.
@Suite(.serialized) struct AiortcMediaTests {
    @Test(
        "aiortc decodes its own pictures and sound as they come back, whoever offers", .timeLimit(.minutes(2)),
        arguments: [false, true])
    func echo(isOfferOurs: Bool) async throws {
        let theirs = try PythonPeer("aiortc_media_peer.py")
        try await MediaEcho.run(with: theirs, isOfferOurs: isOfferOurs) { report, statistics in
            #expect(report["format"]?["video"] == .array([.integer(320), .integer(240)]), "\(report)")
            // aiortc has no transport-wide feedback: it estimates what it gets (REMB).
            #expect(statistics.availableOutgoingBitrate != nil)
        }
    }
}
