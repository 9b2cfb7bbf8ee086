import IoTCore
import NIOCore
import RTPTestSupport
import Testing

@testable import RTP

private enum Vectors {
    /// The first two frames of a tone of 1 kHz at 8 kHz that LAME has encoded with 8 kbit/s.
    static let tone = [
        "ffe318c4000b7136a191415800aaef018018c6318c7c800001798c631bc80002f8c631fe002ffffec7dfcbd31bc07e00"
            + "00100884cac10ff77fbba5604020182a8402000043197fc3",
        "ffe318c40d0fb1bed639858002a028907bfc06110e803fe919178c4ba4cfffa923244992020b24efe0c3f830a2a492ff"
            + "ffffd12e988882a0a888f7ff582a59ffffffffffffffd900",
    ]

    /// Their payloads from libavformat 59.27 (`ffmpeg -f rtp`) with `pkt_size` 64 and 200.
    static let fragmented = [
        "00000000" + tone[0].prefix(96), "00000030" + tone[0].dropFirst(96), "00000000" + tone[1].prefix(96),
        "00000030" + tone[1].dropFirst(96),
    ]
    static let together = ["00000000" + tone[0] + tone[1]]

    /// A frame of layer III, 32 kbit/s, 48 kHz: 96 bytes, 1,152 samples.
    static func frame(_ byte: UInt8) -> String {
        "fffb14c4" + String(repeating: ByteBuffer(bytes: [byte]).hex, count: 92)
    }

    /// The fragments of a frame, by their offset in hexadecimal digits.
    static func fragments(_ frame: String, at places: [Int]) -> [String] {
        zip(places, places.dropFirst() + [frame.count]).map { start, end in
            let offset = ByteBuffer(bytes: [0, 0, UInt8(start / 512), UInt8(start / 2 % 256)]).hex
            return offset + frame.dropFirst(start).prefix(end - start)
        }
    }

    static let missing = [0, 2].map { fragments(frame(7), at: [0, 40, 120])[$0] }
    static let tooLong = [fragments(frame(7), at: [0, 40])[0], fragments(frame(7), at: [0, 40])[1] + "00"]
}

@Suite struct MPEGAudioTests {
    private static let codec = RTPCodec(payloadType: 14, encodingName: "MPA", clockRate: 90_000)

    private static func outputs(
        _ depacketizer: inout Depacketizer, _ hex: String, timestamp: Int64 = 0
    ) -> [Depacketizer.Output] {
        depacketizer.receive(ByteBuffer(hex: hex), marker: false, timestamp: timestamp, at: .uptimeNanoseconds(0))
    }

    private static func frames(_ outputs: [Depacketizer.Output]) -> [(bytes: String, timestamp: Int64)] {
        outputs.compactMap {
            if case .frame(let frame) = $0 { (frame.frame.bytes.hex, frame.rtpTimestamp) } else { nil }
        }
    }

    @Test(
        "The first header of files that LAME and libavcodec have written: layer, sample rate, size, samples",
        arguments: [
            (0xFFFB_90C4, 3, 44_100, 417, 1_152), (0xFFFB_92C4, 3, 44_100, 418, 1_152),
            (0xFFFB_E8C4, 3, 32_000, 1_440, 1_152), (0xFFF3_48C4, 3, 16_000, 144, 576),
            (0xFFE3_18C4, 3, 8_000, 72, 576),
            (0xFFFD_A4C4, 2, 48_000, 576, 1_152), (0xFFF5_84C4, 2, 24_000, 384, 1_152),
            // Computed from the standard's tables: no encoder of layer I was at hand.
            (0xFFFF_C600, 1, 48_000, 388, 384),
        ] as [(UInt32, Int, Int, Int, Int)])
    func headers(bytes: UInt32, layer: Int, sampleRate: Int, size: Int, samples: Int) throws {
        let header = try #require(MPEGAudioHeader(bytes))
        #expect(header.layer == layer && header.sampleRate == sampleRate)
        #expect(header.frameSize == size && header.sampleCount == samples)
    }

    @Test(
        "Reserved versions, layers, rates and free format are not headers",
        arguments: [
            0xFFEB_90C4, 0xFFF9_90C4, 0xFFFB_F0C4, 0xFFFB_00C4, 0xFFFB_9CC4, 0x7FFB_90C4, 0xFF7B_90C4, 0,
        ] as [UInt32])
    func invalid(bytes: UInt32) {
        #expect(MPEGAudioHeader(bytes) == nil)
    }

    @Test("libavformat's payloads are the frames of the file", arguments: [Vectors.fragmented, Vectors.together])
    func libavformat(payloads: [String]) throws {
        var depacketizer = try Depacketizer(codec: Self.codec)
        let frames = Self.frames(payloads.flatMap { Self.outputs(&depacketizer, $0) })
        #expect(frames.map(\.bytes) == Vectors.tone)
    }

    @Test("RFC 2250 §3.5: several frames in a packet are one frame length apart")
    func several() throws {
        var depacketizer = try Depacketizer(codec: Self.codec)
        let frames = Self.frames(
            Self.outputs(
                &depacketizer, "00000000" + Vectors.frame(1) + Vectors.frame(2) + Vectors.frame(3), timestamp: 900))
        #expect(frames.map(\.bytes) == [Vectors.frame(1), Vectors.frame(2), Vectors.frame(3)])
        #expect(frames.map(\.timestamp) == [900, 900 + 2_160, 900 + 4_320])
    }

    @Test("Fragments become one frame with the time of the first")
    func fragments() throws {
        var depacketizer = try Depacketizer(codec: Self.codec)
        let parts = Vectors.fragments(Vectors.frame(7), at: [0, 40, 120])
        #expect(Self.outputs(&depacketizer, parts[0], timestamp: 10).isEmpty)
        #expect(Self.outputs(&depacketizer, parts[1], timestamp: 10).isEmpty)
        let frames = Self.frames(Self.outputs(&depacketizer, parts[2], timestamp: 10))
        #expect(frames.map(\.bytes) == [Vectors.frame(7)] && frames.map(\.timestamp) == [10])
        // The last frame of a packet may continue in the next one, too.
        #expect(
            Self.outputs(&depacketizer, "00000000" + Vectors.frame(1) + parts[0].dropFirst(8), timestamp: 20).count == 1
        )
        _ = Self.outputs(&depacketizer, parts[1], timestamp: 20)
        let rest = Self.frames(Self.outputs(&depacketizer, parts[2], timestamp: 20))
        #expect(rest.map(\.bytes) == [Vectors.frame(7)] && rest.map(\.timestamp) == [20 + 2_160])
    }

    @Test("Fragments around a gap are dropped without damage, and the next frame is whole")
    func gaps() throws {
        var depacketizer = try Depacketizer(codec: Self.codec)
        let parts = Vectors.fragments(Vectors.frame(7), at: [0, 40, 80, 120])
        _ = Self.outputs(&depacketizer, parts[0])
        depacketizer.skipGap()
        #expect(Self.outputs(&depacketizer, parts[2]).isEmpty && Self.outputs(&depacketizer, parts[3]).isEmpty)
        #expect(
            Self.frames(Self.outputs(&depacketizer, "00000000" + Vectors.frame(1))).map(\.bytes) == [Vectors.frame(1)])
    }

    @Test(
        "Malformed payloads, and fragments that do not continue a frame, yield damage and no frame",
        arguments: [
            ["000000"], ["00000000"], ["00000000 00112233 44"], ["00000000 ff"], ["0000 0014 55"],
            Vectors.missing, Vectors.tooLong,
        ])
    func damage(payloads: [String]) throws {
        var depacketizer = try Depacketizer(codec: Self.codec)
        let outputs = payloads.flatMap { Self.outputs(&depacketizer, $0) }
        #expect(outputs.count == 1 && Self.frames(outputs).isEmpty)
        #expect(Self.frames(Self.outputs(&depacketizer, "00000000" + Vectors.frame(1))).count == 1)
    }

    @Test("A frame that stays incomplete is damaged when the next one begins")
    func incomplete() throws {
        var depacketizer = try Depacketizer(codec: Self.codec)
        _ = Self.outputs(&depacketizer, Vectors.fragments(Vectors.frame(7), at: [0, 40])[0])
        let outputs = Self.outputs(&depacketizer, "00000000" + Vectors.frame(1))
        #expect(outputs.count == 2 && Self.frames(outputs).map(\.bytes) == [Vectors.frame(1)])
    }
}
