package import IoTCore
package import NIOCore
package import RTP
package import TestSupport

package enum MediaFixtures {
    package static let h264 = RTPCodec(
        payloadType: 96, encodingName: "H264", clockRate: 90_000, formatParameters: ["packetization-mode": "1"])
    /// H.264 with an SPS and a PPS in the SDP.
    package static let h264WithSets = RTPCodec(
        payloadType: 96, encodingName: "H264", clockRate: 90_000,
        formatParameters: ["packetization-mode": "1", "sprop-parameter-sets": "Z0I=,aM4="])

    package static let h265 = RTPCodec(payloadType: 97, encodingName: "H265", clockRate: 90_000)
    package static let pcma = RTPCodec(payloadType: 8, encodingName: "PCMA", clockRate: 8_000)
    package static let pcmu = RTPCodec(payloadType: 0, encodingName: "PCMU", clockRate: 8_000)
    package static let opus = RTPCodec(payloadType: 111, encodingName: "opus", clockRate: 48_000, channels: 2)

    /// AAC-LC, 48 kHz, 5.1.
    package static let aac = RTPCodec(
        .audio(AudioParameters(codec: .aac, sampleRate: 48_000, channels: 6, audioSpecificConfig: [0x11, 0xB0])),
        payloadType: 98)

    package static let all = [h264, h265, aac, pcma, pcmu, opus]

    package static func accessUnit(_ units: [[UInt8]]) -> ByteBuffer {
        var bytes = ByteBuffer()
        for unit in units {
            bytes.writeInteger(UInt32(unit.count))
            bytes.writeBytes(unit)
        }
        return bytes
    }

    /// A picture of about `size` bytes in several slices; a key frame begins with its parameter sets.
    package static func picture(
        _ codec: VideoCodec, isKeyFrame: Bool, size: Int, pts: Int64, hasSEI: Bool = false,
        using random: inout SeededGenerator
    ) -> MediaFrame {
        func unit(_ type: UInt8, _ bytes: Int, first: UInt8? = nil) -> [UInt8] {
            var unit: [UInt8] = codec == .h264 ? [0x60 | type] : [type << 1, 1]
            if let first { unit.append(first) }
            return unit + random.bytes(max(bytes - unit.count, 1))
        }
        var units: [[UInt8]] = []
        if isKeyFrame {
            units =
                codec == .h264
                ? [[0x67, 0x42, 0xC0, 0x1F, 1], [0x68, 2]] : [[0x40, 1, 3], [0x42, 1, 4], [0x44, 1, 5]]
        }
        if hasSEI { units.append(unit(codec == .h264 ? 6 : 39, 30)) }
        let slices = Int.random(in: 1...3, using: &random)
        for index in 0..<slices {
            let type: UInt8 = codec == .h264 ? (isKeyFrame ? 5 : 1) : (isKeyFrame ? 19 : 1)
            units.append(unit(type, max(size / slices, 4), first: index == 0 ? 0x88 : 0x08))
        }
        return MediaFrame(kind: .video, isKeyFrame: isKeyFrame, pts: pts, dts: pts, bytes: accessUnit(units))
    }

    /// A random frame of the codec.
    package static func frame(_ codec: RTPCodec, index: Int, using random: inout SeededGenerator) -> MediaFrame {
        let pts = Int64(index) * 40_000 + Int64.random(in: -900...900, using: &random)
        switch codec.format {
        case .h264, .h265:
            let size = [5, 300, 1_099, 1_100, 1_101, 5_000, 40_000].randomElement(using: &random) ?? 5
            return picture(
                codec.format == .h264 ? .h264 : .h265, isKeyFrame: index % 5 == 0,
                size: size + Int.random(in: 0...9, using: &random), pts: pts, hasSEI: index % 3 == 0, using: &random)
        case .aac:
            let size = Int.random(in: 1...8_191, using: &random)
            return MediaFrame(
                kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: .init(bytes: random.bytes(size)))
        case .opus:
            // A TOC byte with code 0 means one frame: its two low bits are 0 (RFC 6716 §3.2.2).
            var bytes = random.bytes(Int.random(in: 1...1_100, using: &random))
            bytes[0] &= 0xFC
            return MediaFrame(kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: .init(bytes: bytes))
        default:
            let size = Int.random(in: 1...1_100, using: &random)
            return MediaFrame(
                kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: .init(bytes: random.bytes(size)))
        }
    }
}
