import IoTCore
import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import RTP

extension Depacketizer {
    fileprivate mutating func frames(_ packets: some Sequence<MediaPacket>) -> [MediaFrame] {
        packets.flatMap { packet in
            receive(
                packet.payload, marker: packet.marker, timestamp: Int64(packet.timestamp), at: .uptimeNanoseconds(0))
        }.compactMap { if case .frame(let received) = $0 { received.frame } else { nil } }
    }

    fileprivate mutating func outputs(_ hex: String, marker: Bool = true, timestamp: Int64 = 0) -> [Output] {
        receive(ByteBuffer(hex: hex), marker: marker, timestamp: timestamp, at: .uptimeNanoseconds(0))
    }
}

extension Depacketizer.Output {
    fileprivate var bytes: String? { if case .frame(let received) = self { received.frame.bytes.hex } else { nil } }
    fileprivate var isDamage: Bool { if case .damaged = self { true } else { false } }
}

@Suite struct DepacketizerTests {
    @Test("Random frames are reassembled byte for byte, with their times", arguments: MediaFixtures.all)
    func identity(codec: RTPCodec) throws {
        var random = SeededGenerator(seed: 11)
        for size in [64, 300, 1_100] {
            var packetizer = Packetizer(codec: codec, maximumPayloadSize: size)
            var depacketizer = try Depacketizer(codec: codec)
            for index in 1..<150 {
                var frame = MediaFixtures.frame(codec, index: index, using: &random)
                if codec.format == .opus {
                    frame.bytes.moveWriterIndex(to: min(60, frame.bytes.readableBytes))
                }
                let back = depacketizer.frames(try packetizer.packetize(frame))
                if codec.format == .pcma || codec.format == .pcmu {
                    // A G.711 frame may be split: only the samples must match.
                    #expect(back.flatMap { Array($0.bytes.readableBytesView) } == Array(frame.bytes.readableBytesView))
                } else {
                    #expect(back.count == 1)
                    #expect(back.first?.bytes == frame.bytes)
                }
                #expect(back.first?.isKeyFrame == frame.isKeyFrame)
                #expect(abs((back.first?.pts ?? -1) - frame.pts) <= 1_000_000 / Int64(codec.clockRate) / 2 + 1)
            }
        }
    }

    @Test("RFC 6184: a picture of single units, STAP-A and FU-A ends with the marker")
    func h264Structures() throws {
        var depacketizer = try Depacketizer(codec: MediaFixtures.h264)
        #expect(depacketizer.outputs("78 0002 6742 0002 68ce", marker: false).isEmpty)
        #expect(depacketizer.outputs("7c85 aa", marker: false).isEmpty)
        #expect(depacketizer.outputs("7c05 bb", marker: false).isEmpty)
        let outputs = depacketizer.outputs("7c45 cc")
        #expect(outputs.map(\.bytes) == ["000000026742" + "0000000268ce" + "00000004" + "65aabbcc"])
    }

    @Test("A picture without a marker ends when the timestamp changes")
    func timestampEnds() throws {
        var depacketizer = try Depacketizer(codec: MediaFixtures.h264)
        #expect(depacketizer.outputs("4188", marker: false, timestamp: 0).isEmpty)
        #expect(depacketizer.outputs("4108", marker: false, timestamp: 0).isEmpty)
        let outputs = depacketizer.outputs("4199", marker: false, timestamp: 3_000)
        #expect(outputs.map(\.bytes) == ["000000024188" + "000000024108"])
    }

    @Test("A key frame without parameter sets is prefixed with the last ones: from the SDP, then from the stream")
    func parameterSets() throws {
        var depacketizer = try Depacketizer(codec: MediaFixtures.h264WithSets)
        let sets = "000000026742" + "0000000268ce"
        #expect(depacketizer.outputs("65888040").map(\.bytes) == [sets + "0000000465888040"])
        // Parameter sets with their own timestamp are not a frame.
        #expect(depacketizer.outputs("78 0003 674d01 0002 68cf", timestamp: 1).isEmpty)
        let newer = "00000003674d01" + "0000000268cf"
        #expect(depacketizer.outputs("65888040", timestamp: 2).map(\.bytes) == [newer + "0000000465888040"])
        #expect(depacketizer.outputs("41888040", timestamp: 3).map(\.bytes) == ["0000000441888040"])
    }

    @Test(
        "After a gap, the rest of a cut picture is skipped, and a picture that begins there is kept",
        arguments: [VideoCodec.h264, .h265])
    func gaps(codec: VideoCodec) throws {
        let rtp = codec == .h264 ? MediaFixtures.h264 : MediaFixtures.h265
        var random = SeededGenerator(seed: 5)
        var packetizer = Packetizer(codec: rtp)
        let pictures = (0..<3).map {
            MediaFixtures.picture(codec, isKeyFrame: true, size: 9_000, pts: Int64($0) * 40_000, using: &random)
        }
        let packets = try pictures.map { try packetizer.packetize($0) }
        // Without its first packet, which holds only the parameter sets, a key frame is completed with the old ones.
        for lost in 1..<packets[1].count {
            var depacketizer = try Depacketizer(codec: rtp)
            var frames = depacketizer.frames(packets[0] + packets[1].prefix(lost))
            depacketizer.skipGap()
            frames += depacketizer.frames(packets[1].dropFirst(lost + 1) + packets[2])
            #expect(frames.map(\.bytes) == [pictures[0].bytes, pictures[2].bytes], "packet \(lost)")
        }
    }

    @Test("A gap across the end of one picture and the beginning of the next drops both")
    func gapAcrossPictures() throws {
        var depacketizer = try Depacketizer(codec: MediaFixtures.h264)
        #expect(depacketizer.outputs("7c85aa", marker: false, timestamp: 0).isEmpty)
        depacketizer.skipGap()
        #expect(depacketizer.outputs("5c05bb", marker: false, timestamp: 3_000).isEmpty)
        #expect(depacketizer.outputs("5c45cc", timestamp: 3_000).isEmpty)
        #expect(depacketizer.outputs("4188", timestamp: 6_000).map(\.bytes) == ["000000024188"])
    }

    @Test(
        "Payloads that are malformed or do not fit together yield damage and never a frame",
        arguments: [
            ["7c05aa"], ["7c85aa", "7c85aa"], ["7c85aa", "4188"], ["78 0005 6742"], ["78 00"], ["7985"], ["5f00"],
            ["7c85aa"], ["7c80aa"], ["0011"], ["7c"],
        ])
    func damage(payloads: [String]) throws {
        var depacketizer = try Depacketizer(codec: MediaFixtures.h264)
        var outputs: [Depacketizer.Output] = []
        for (index, payload) in payloads.enumerated() {
            outputs += depacketizer.outputs(payload, marker: index == payloads.count - 1)
        }
        #expect(outputs.count == 1 && outputs[0].isDamage)
        // The next picture is intact.
        #expect(depacketizer.outputs("4188", timestamp: 9).map(\.bytes) == ["000000024188"])
    }

    @Test("RFC 3640: several access units in a packet are one frame length apart")
    func aacSeveral() throws {
        var depacketizer = try Depacketizer(codec: MediaFixtures.aac)
        // Three AU-headers of 16 bits: sizes 1, 2, 1.
        let outputs = depacketizer.receive(
            ByteBuffer(hex: "0030 0008 0010 0008 aa bbbb cc"), marker: true, timestamp: 1_000, at: .uptimeNanoseconds(0)
        )
        #expect(outputs.map(\.bytes) == ["aa", "bbbb", "cc"])
        let times = outputs.compactMap { if case .frame(let frame) = $0 { frame.rtpTimestamp } else { nil } }
        #expect(times == [1_000, 2_024, 3_048])
    }

    @Test("An access unit cut by a gap is dropped without damage; one that stays incomplete is damaged")
    func aacGaps() throws {
        var depacketizer = try Depacketizer(codec: MediaFixtures.aac)
        let first = "0010 0028 aabb"
        let last = "0010 0028 ccddee"
        #expect(depacketizer.outputs(first, marker: false).isEmpty)
        #expect(depacketizer.outputs(last).map(\.bytes) == ["aabbccddee"])
        #expect(depacketizer.outputs(first, marker: false).isEmpty)
        depacketizer.skipGap()
        #expect(depacketizer.outputs(last).isEmpty)
        #expect(depacketizer.outputs(first, marker: false, timestamp: 1).isEmpty)
        #expect(depacketizer.outputs(first).map(\.isDamage) == [true, true])
        for payload in ["00", "0000", "0011 0008 aa", "0020 0008 0010 aa", "0010 00"] {
            #expect(depacketizer.outputs(payload).contains { $0.isDamage }, "\(payload)")
        }
    }

    @Test("Payloads truncated at any length or with changed bytes never trap", arguments: MediaFixtures.all)
    func neverTraps(codec: RTPCodec) throws {
        var random = SeededGenerator(seed: 17)
        var packetizer = Packetizer(codec: codec, maximumPayloadSize: 300)
        var depacketizer = try Depacketizer(codec: codec)
        for index in 0..<40 {
            var frame = MediaFixtures.frame(codec, index: index, using: &random)
            frame.bytes = frame.bytes.getSlice(at: 0, length: min(300, frame.bytes.readableBytes)) ?? frame.bytes
            guard let packets = try? packetizer.packetize(frame) else { continue }
            for packet in packets {
                for length in 0...packet.payload.readableBytes {
                    let payload = packet.payload.getSlice(at: 0, length: length) ?? ByteBuffer()
                    _ = depacketizer.isDecodingStart(payload)
                    _ = depacketizer.receive(
                        payload, marker: Bool.random(using: &random), timestamp: Int64(length / 7),
                        at: .uptimeNanoseconds(0))
                }
                for _ in 0..<100 {
                    var payload = packet.payload
                    let at = Int.random(in: 0..<min(payload.readableBytes, 12), using: &random)
                    payload.setInteger(UInt8.random(in: 0 ... .max, using: &random), at: at)
                    _ = depacketizer.isDecodingStart(payload)
                    _ = depacketizer.receive(
                        payload, marker: Bool.random(using: &random),
                        timestamp: Int64.random(in: .min ... .max, using: &random), at: .uptimeNanoseconds(0))
                    if Int.random(in: 0..<10, using: &random) == 0 { depacketizer.skipGap() }
                }
            }
        }
    }

    @Test("A picture of thousands of parameter sets makes no later key frame larger than the limit")
    func manyParameterSets() throws {
        for size in [4, 1_000] {
            var depacketizer = try Depacketizer(codec: MediaFixtures.h264)
            func receive(_ payload: ByteBuffer, marker: Bool, timestamp: Int64) -> [Depacketizer.Output] {
                depacketizer.receive(payload, marker: marker, timestamp: timestamp, at: .uptimeNanoseconds(0))
            }
            for index in 0..<4_000 as Range<UInt32> {
                var set = ByteBuffer(bytes: [index == 0 ? 0x67 : 0x68])
                set.writeInteger(index)
                set.writeRepeatingByte(0x55, count: size)
                #expect(receive(set, marker: false, timestamp: 0).isEmpty)
            }
            _ = receive(ByteBuffer(hex: "658884"), marker: true, timestamp: 0)
            let outputs = receive(ByteBuffer(hex: "658884"), marker: true, timestamp: 3_600)
            guard case .frame(let received) = try #require(outputs.first) else {
                Issue.record("no frame")
                return
            }
            let sizes = received.frame.nalUnits.map(\.readableBytes)
            #expect(received.frame.isKeyFrame && sizes.first == 5 + size && sizes.count <= 65)
            #expect(received.frame.bytes.readableBytes <= 16_384 + 64 * 4 + 7)
        }
    }
}
