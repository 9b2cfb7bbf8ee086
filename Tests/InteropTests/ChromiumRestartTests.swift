import IoTCore
import PeerTransport
import Testing

/// ICE restarts with Chromium (RFC 8445 §9) on a connection with media in both directions and a data channel. Run by
/// Tests/InteropTests/run.sh.
@Suite(.serialized) struct ChromiumRestartTests {
    @Test(
        "Chromium restarts ICE, then we do: pictures, sound and the data channel continue over the new pair",
        .timeLimit(.minutes(2)), arguments: [false, true])
    func restarts(isOfferOurs: Bool) async throws {
        try await MediaEcho.run(
            with: try PythonPeer("chromium_media_peer.py"), isOfferOurs: isOfferOurs,
            offer: ["do": .string("offer"), "channels": .array([.object(["label": .string("kept")])])],
            configure: { $0.dataChannels = DataChannelConfiguration() }, mayCutPictures: true,
            during: { signalling in
                if isOfferOurs { try await signalling.ours.run { try $0.openDataChannel(label: "kept") } }
                let channel = try await signalling.ours.opened("kept")
                try await MediaEcho.pictures(30, of: signalling.ours)
                // Twice, because the second restart replaces the stored credentials of the first.
                for _ in 1...2 {
                    try await check(signalling, channel) { try await signalling.answer(["do": .string("restart")]) }
                    try await check(signalling, channel) { try await signalling.offer(restart: true) }
                }
            }
        ) { report, statistics in
            #expect(report["connectionState"] == .string("connected"), "\(report)")
            // The first pair, and at least one for each restart.
            #expect(statistics.selectedCandidatePairChanges >= 5)
            #expect((report["transport"]?["pairChanges"]?.integerValue ?? 0) >= 5, "\(report)")
            #expect(report["closed"] == .array([]) && statistics.dataChannelsClosed == 0, "\(report)")
            // No stream lost its track.
            #expect(report["removedTracks"] == .integer(0), "\(report)")
        }
    }

    /// The connection's state at our side and in Chromium.
    private struct State {
        let local: [String]
        let remote: [String]
        let statistics: PeerStatistics
        let report: JSONValue

        init(_ signalling: Signalling) async throws {
            (local, remote, statistics) = try await signalling.ours.run { peer in
                (
                    State.credentials(peer.localDescription?.text ?? ""),
                    State.credentials(peer.remoteDescription?.text ?? ""),
                    peer.statistics
                )
            }
            try signalling.theirs.tell(["do": .string("report")])
            report = try await signalling.theirs.next("report")
        }

        private static func credentials(_ text: String) -> [String] {
            ["a=ice-ufrag:", "a=ice-pwd:"].compactMap { name in
                text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name) }.map(String.init)
            }
        }

        func decoded(_ kind: String) -> Int64 { report["received"]?[kind]?.integerValue ?? 0 }

        var messages: UInt64? { statistics.dataChannels.first?.messagesReceived }

        var remotePort: Int? { statistics.candidatePairs.first { $0.isSelected }?.remote.port }
    }

    /// Restarts ICE, and checks what must change and what must stay.
    private func check(
        _ signalling: Signalling, _ channel: DataChannel, restart: () async throws -> Void
    ) async throws {
        let ours = signalling.ours
        let before = try await State(signalling)
        try await restart()
        try await MediaEcho.pictures(60, of: ours)
        try await ours.send(.text("here"), on: channel.id)
        #expect(try await ours.message(on: channel.id) == .text("here"))
        // On a busy machine Chromium's decoder is late.
        var after = try await State(signalling)
        while after.decoded("video") < before.decoded("video") + 50
            || after.decoded("audio") < before.decoded("audio") + 80
        {
            try await MediaEcho.pictures(10, of: ours)
            after = try await State(signalling)
        }
        #expect(before.local.count == 2 && before.remote.count == 2)
        for (old, new) in zip(before.local + before.remote, after.local + after.remote) { #expect(old != new) }
        // Chromium uses new ports.
        #expect(after.remotePort != before.remotePort)
        #expect(after.remotePort != nil)
        // Only ICE is new: the pictures continue, and DTLS and all tracks stay unchanged.
        #expect(after.report["agreed"] == before.report["agreed"], "\(before.report) \(after.report)")
        #expect(after.report["transport"]?["dtlsState"] == .string("connected"))
        #expect(after.statistics.dataChannels.map(\.messagesReceived) == [(before.messages ?? 0) + 1])
    }
}
