import IoTCore
import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import RTP

@Suite struct PacketizerTests {
    private func video(_ units: [String], isKeyFrame: Bool = false, pts: Int64 = 1_000_000) -> MediaFrame {
        let units = units.map { Array(ByteBuffer(hex: $0).readableBytesView) }
        return MediaFrame(
            kind: .video, isKeyFrame: isKeyFrame, pts: pts, dts: pts, bytes: MediaFixtures.accessUnit(units))
    }

    private func audio(_ bytes: [UInt8], pts: Int64 = 0) -> MediaFrame {
        MediaFrame(kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: ByteBuffer(bytes: bytes))
    }

    @Test("RFC 6184 §5.6 and §5.7.1: a single unit is sent unchanged, small ones share a STAP-A")
    func h264Aggregation() throws {
        var packetizer = Packetizer(codec: MediaFixtures.h264)
        let single = try packetizer.packetize(video(["41 9a 01"]))
        #expect(single.map(\.payload.hex) == ["419a01"])
        #expect(single[0].marker && !single[0].isKeyFrameStart && single[0].timestamp == 90_000)
        // Header: F 0, NRI 3 from the SPS, type 24; then a length and a unit each.
        let key = try packetizer.packetize(video(["67 42 00 1f", "48 ce", "65 88 80"], isKeyFrame: true))
        #expect(key.map(\.payload.hex) == ["78" + "00046742001f" + "000248ce" + "0003658880"])
        #expect(key[0].isKeyFrameStart && key[0].sequence == 1)
    }

    @Test("RFC 6184 §5.8: a long unit is split into FU-As, and the last one has the marker")
    func h264Fragmentation() throws {
        var packetizer = Packetizer(codec: MediaFixtures.h264, maximumPayloadSize: 64)
        let unit: [UInt8] = [0x65] + (0..<130).map { UInt8($0) }
        let packets = try packetizer.packetize(
            video(["68 ce", Hex.encode(unit)], isKeyFrame: true))
        #expect(packets.count == 4)
        // FU indicator: NRI 3, type 28; FU header: start, none, end, each with type 5.
        let headers = packets.dropFirst().map { $0.payload.getInteger(at: 0, as: UInt16.self) }
        #expect(headers == [0x7C85, 0x7C05, 0x7C45])
        // 130 bytes in three equal fragments rather than 62, 62 and 6.
        #expect(packets.dropFirst().map(\.payload.readableBytes) == [46, 46, 44])
        #expect(packets.map(\.marker) == [false, false, false, true])
        #expect(packets.map(\.isKeyFrameStart) == [true, false, false, false])
        #expect(packets.map(\.sequence) == [0, 1, 2, 3])
    }

    @Test("RFC 6184 §6.2: in mode 0 each unit is a packet, and a unit that does not fit is an error")
    func h264SingleUnits() throws {
        let codec = RTPCodec(payloadType: 96, encodingName: "H264", clockRate: 90_000)
        var packetizer = Packetizer(codec: codec, maximumPayloadSize: 64)
        let packets = try packetizer.packetize(video(["67 42 00 1f", "68 ce", "65 88 80"], isKeyFrame: true))
        #expect(packets.map(\.payload.hex) == ["6742001f", "68ce", "658880"])
        #expect(packets.map(\.marker) == [false, false, true])
        let long: [UInt8] = [0x65] + (0..<64).map { UInt8($0) }
        #expect(throws: IoTError.self) { _ = try packetizer.packetize(video([Hex.encode(long)])) }
    }

    @Test("RFC 7798 §4.4: an aggregation packet and fragmentation units of H.265")
    func h265() throws {
        var packetizer = Packetizer(codec: MediaFixtures.h265, maximumPayloadSize: 64)
        let slice: [UInt8] = [0x26, 0x01] + (0..<100).map { UInt8($0) }
        let packets = try packetizer.packetize(
            video(["40 01 0c", "42 01 01", "44 02 c1", Hex.encode(slice)], isKeyFrame: true))
        // Type 48, layer 0, the lowest TID; VPS, SPS, PPS.
        #expect(packets[0].payload.hex == "6001" + "000340010c" + "0003420101" + "00034402c1")
        #expect(packets[1].payload.hex.hasPrefix("620193" + "000102"))
        #expect(packets[2].payload.hex.hasPrefix("620153" + "323334"))
        #expect(packets.map(\.marker) == [false, false, true])
    }

    @Test("RFC 3640 §3.3.6: a packet holds one access unit, or a fragment with the whole unit's size")
    func aac() throws {
        var packetizer = Packetizer(codec: MediaFixtures.aac, maximumPayloadSize: 64)
        let small = try packetizer.packetize(audio([0x21, 0x10, 0x05]))
        // 16 header bits; AU-size 3 in 13 bits, AU-Index 0.
        #expect(small.map(\.payload.hex) == ["0010" + "0018" + "211005"])
        #expect(small[0].marker)
        let large = try packetizer.packetize(audio([UInt8](repeating: 7, count: 121)))
        #expect(large.map(\.payload.readableBytes) == [45, 45, 43])
        #expect(large.allSatisfy { $0.payload.hex.hasPrefix("0010" + "03c8" + "07") })
        #expect(large.map(\.marker) == [false, false, true])
        #expect(Set(large.map(\.timestamp)).count == 1)
        #expect(throws: IoTError.self) { try packetizer.packetize(audio([UInt8](repeating: 0, count: 8_192))) }
    }

    @Test("RFC 3551 §4.5.14: a long G.711 frame is split between samples, and each part has its own time")
    func g711() throws {
        var packetizer = Packetizer(codec: MediaFixtures.pcma)
        let packets = try packetizer.packetize(audio([UInt8](repeating: 0xD5, count: 2_500), pts: 1_000_000))
        #expect(packets.map(\.payload.readableBytes) == [1_100, 1_100, 300])
        #expect(packets.map(\.timestamp) == [8_000, 9_100, 10_200])
        #expect(packets.map(\.pts) == [1_000_000, 1_137_500, 1_275_000])
    }

    @Test("A timestamp is the rounded pts, independent of earlier frames, and wraps at 32 bits")
    func timestamps() throws {
        var packetizer = Packetizer(codec: MediaFixtures.h264)
        for pts: Int64 in [0, 33_333, 66_667, -1, 47_721_858_844, 1_763_000_000_000_000] {
            let packet = try #require(try packetizer.packetize(video(["41 9a"], pts: pts)).first)
            let exact = (Double(pts) * 0.09).rounded()
            #expect(packet.timestamp == UInt32(truncatingIfNeeded: Int64(exact)))
            #expect(packet.pts == pts)
        }
    }

    @Test("Frames of the wrong kind, empty frames and unknown codecs are rejected")
    func refusals() {
        var packetizer = Packetizer(codec: MediaFixtures.h264)
        #expect(throws: IoTError.self) { try packetizer.packetize(audio([1])) }
        #expect(throws: IoTError.self) { try packetizer.packetize(video([])) }
        var unknown = Packetizer(codec: RTPCodec(payloadType: 99, encodingName: "VP8", clockRate: 90_000))
        #expect(throws: IoTError.self) { try unknown.packetize(video(["41 9a"])) }
    }

    @Test("Every datagram stays below 1200 bytes", arguments: MediaFixtures.all)
    func datagramSize(codec: RTPCodec) throws {
        var packetizer = Packetizer(codec: codec)
        var random = SeededGenerator(seed: 3)
        for index in 0..<60 {
            for packet in try packetizer.packetize(MediaFixtures.frame(codec, index: index, using: &random)) {
                #expect(packet.payload.readableBytes <= 1_100)
                #expect(RTPPacket.minimumHeaderSize + packet.payload.readableBytes + 16 <= 1_200)
            }
        }
    }
}
