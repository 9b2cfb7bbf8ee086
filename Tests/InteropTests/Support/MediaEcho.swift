import IoTCore
import NIOCore
import PeerTransport
import Testing

/// Media both ways with a peer of other authors, whose encoders and decoders work: each frame that it sends is put
/// together, packetised anew and sent back.
enum MediaEcho {
    private static let sections = [
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

    /// - Parameter check: looks at what the peer reports in the end.
    static func run(
        _ script: String, isOfferOurs: Bool, check: (JSONValue, PeerStatistics) throws -> Void
    ) async throws {
        let theirs = try PythonPeer(script)
        let ours = try await ShellPeer { configuration in
            configuration.sections = Self.sections
            configuration.isControlling = isOfferOurs
        }
        do {
            _ = try await theirs.next("ready")
            if isOfferOurs {
                let offer = try await ours.run { try $0.createOffer().text }
                try theirs.tell(["do": .string("accept"), "sdp": .string(offer)])
                let answer = try await theirs.next("answer")["sdp"]?.stringValue ?? ""
                try await ours.run { try $0.setAnswer(SessionDescription(parsing: answer)) }
            } else {
                try theirs.tell(["do": .string("offer")])
                let offer = try await theirs.next("offer")["sdp"]?.stringValue ?? ""
                let answer = try await ours.run { try $0.createAnswer(to: SessionDescription(parsing: offer)).text }
                try theirs.tell(["do": .string("answer"), "sdp": .string(answer)])
            }
            try await echo(ours)
            try theirs.tell(["do": .string("report")])
            let report = try await theirs.next("report")
            #expect((report["received"]?["video"]?.integerValue ?? 0) >= 100, "\(report)")
            #expect((report["received"]?["audio"]?.integerValue ?? 0) >= 150, "\(report)")
            let statistics = try await ours.run { $0.statistics }
            let video = try #require(statistics.inbound.values.first { $0.keyFramesReceived > 0 })
            #expect(video.framesReceived >= 150 && video.framesDamaged == 0)
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

    /// Sends 150 pictures and the sound between them back.
    private static func echo(_ ours: ShellPeer) async throws {
        var packetizers: [String: Packetizer] = [:]
        var pictures = 0
        var packets = 0
        while pictures < 150 {
            let (mid, frame) = try await ours.first("150 pictures") { event -> (String, MediaFrame)? in
                if case .frame(let mid, let received) = event { (mid, received.frame) } else { nil }
            }
            if frame.kind == .video { pictures += 1 } else { packets += 1 }
            if packetizers[mid] == nil {
                guard let codec = try await ours.run({ $0.sendingCodec(mid: mid) }) else { continue }
                packetizers[mid] = Packetizer(codec: codec)
            }
            guard let cut = try packetizers[mid]?.packetize(frame) else { continue }
            try await ours.run { _ = $0.send(cut, mid: mid) }
        }
        // 30 pictures and 50 packets of sound a second.
        #expect(packets > 150)
    }
}
