import IoTCore
import PeerTransport
import Testing

/// H.264 and Opus in both directions with Chromium. Run by Tests/InteropTests/run.sh.
@Suite(.serialized) struct ChromiumMediaTests {
    @Test(
        "Chromium decodes its own pictures and sound when we echo them, whichever side offers", .timeLimit(.minutes(2)),
        arguments: [false, true])
    func echo(isOfferOurs: Bool) async throws {
        let theirs = try PythonPeer("chromium_media_peer.py")
        func estimate(_ report: JSONValue) -> Int64 { report["availableOutgoingBitrate"]?.integerValue ?? 0 }
        try await MediaEcho.run(
            with: theirs, isOfferOurs: isOfferOurs, isEnough: { report in estimate(report) > 600_000 }
        ) { report, statistics in
            #expect(report["format"]?["video"] == .array([.integer(640), .integer(480)]), "\(report)")
            #expect(report["codecs"] == .array([.string("video/H264"), .string("audio/opus")]), "\(report)")
            // The received sound is not silent.
            #expect((report["format"]?["audio"]?.arrayValue?.first?.doubleValue ?? 0) > 0, "\(report)")
            // Our feedback raises Chromium's estimate above its initial 300 kbit/s.
            #expect(estimate(report) > 600_000, "\(report)")
            // Chromium's feedback contains what arrives.
            #expect((statistics.acknowledgedBitrate ?? 0) > 200_000)
        }
    }
}
