import IoTCore
import NIOCore
import PeerTransport
import RTP
import Testing

/// Media in both directions with an independent peer that encodes and decodes: `FrameEcho` sends back each frame.
enum MediaEcho {
    static let sections = [
        MediaSection(
            mid: "", kind: .audio, direction: .sendReceive,
            codecs: [RTPCodec(payloadType: 111, encodingName: "opus", clockRate: 48_000, channels: 2)]),
        MediaSection(
            mid: "", kind: .video, direction: .sendReceive,
            codecs: [
                RTPCodec(
                    payloadType: 102, encodingName: "H264", clockRate: 90_000,
                    formatParameters: [
                        "packetization-mode": "1", "profile-level-id": "42e01f", "level-asymmetry-allowed": "1",
                    ])
            ]),
    ]

    /// - Parameters:
    ///   - offer: The command that makes the peer offer.
    ///   - during: Runs while media flow; 150 pictures follow.
    ///   - mayCutPictures: Whether the peer may leave out what it has not sent of a picture when a key frame is next, as
    ///     libwebrtc does.
    ///   - isEnough: Whether the peer's report shows enough; if not, the test waits up to 20 s for a busy machine.
    ///   - check: Checks the peer's last report.
    static func run(
        with theirs: PythonPeer, isOfferOurs: Bool, offer: [String: JSONValue] = ["do": .string("offer")],
        configure: (inout PeerConfiguration) -> Void = { _ in },
        mayCutPictures: Bool = false, during: (Signalling) async throws -> Void = { _ in },
        isEnough: (JSONValue) -> Bool = { _ in true },
        check: (JSONValue, PeerStatistics) throws -> Void
    ) async throws {
        let ours = try await ShellPeer(echoesFrames: true) { configuration in
            configuration.sections = Self.sections
            configuration.isControlling = isOfferOurs
            configure(&configuration)
        }
        let signalling = Signalling(ours, theirs)
        defer { signalling.end() }
        do {
            _ = try await theirs.next("ready")
            if isOfferOurs { try await signalling.offer() } else { try await signalling.answer(offer) }
            try await during(signalling)
            // The rates are 30 pictures and 50 audio packets a second.
            let packets = try await pictures(150, of: ours)
            #expect(packets > 150)
            var report = try await ask(theirs)
            for _ in 1...20 where !isEnough(report) {
                try await pictures(30, of: ours)
                report = try await ask(theirs)
            }
            #expect((report["received"]?["video"]?.integerValue ?? 0) >= 100, "\(report)")
            #expect((report["received"]?["audio"]?.integerValue ?? 0) >= 150, "\(report)")
            let statistics = try await ours.run { $0.statistics }
            let video = try #require(statistics.inbound.values.first { $0.keyFramesReceived > 0 })
            let mostDamaged = mayCutPictures ? video.keyFramesReceived - 1 : 0
            #expect(video.framesReceived >= 150 && video.framesDamaged <= mostDamaged, "\(video)")
            #expect(statistics.outbound.values.contains { $0.rtxSSRC != nil })
            #expect(statistics.remoteInbound.values.contains { $0.roundTripTime != nil })
            try check(report, statistics)
            try theirs.tell(["do": .string("end")])
        } catch {
            await ours.socket.close()
            throw error
        }
        await ours.socket.close()
    }

    private static func ask(_ theirs: PythonPeer) async throws -> JSONValue {
        try theirs.tell(["do": .string("report")])
        return try await theirs.next("report")
    }

    /// Waits for `count` pictures from the peer.
    /// - Returns: The number of audio packets between them.
    @discardableResult
    static func pictures(_ count: Int, of ours: ShellPeer) async throws -> Int {
        var pictures = 0
        var packets = 0
        while pictures < count {
            let kind = try await ours.first("\(count) pictures") { event -> MediaKind? in
                if case .frame(_, let received) = event { received.frame.kind } else { nil }
            }
            if kind == .video { pictures += 1 } else { packets += 1 }
        }
        return packets
    }
}
