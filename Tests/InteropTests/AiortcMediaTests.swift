import IoTCore
import PeerTransport
import Testing

/// H.264 and Opus in both directions with aiortc. Run by Tests/InteropTests/run.sh.
@Suite(.serialized) struct AiortcMediaTests {
    @Test(
        "aiortc decodes its own pictures and sound when we echo them, whichever side offers", .timeLimit(.minutes(2)),
        arguments: [false, true])
    func echo(isOfferOurs: Bool) async throws {
        let theirs = try PythonPeer("aiortc_media_peer.py")
        try await MediaEcho.run(with: theirs, isOfferOurs: isOfferOurs) { report, statistics in
            #expect(report["format"]?["video"] == .array([.integer(320), .integer(240)]), "\(report)")
            // aiortc does not send transport-wide feedback: it sends its estimate of the received bit rate (REMB).
            #expect(statistics.availableOutgoingBitrate != nil)
        }
    }
}
