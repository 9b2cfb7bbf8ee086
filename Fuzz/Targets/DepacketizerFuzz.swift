import IoTCore
import NIOCore

@testable import RTP

/// An input is a run of packets: a byte of flags, two of length, the payload. Flags: 1 the marker, 2 a gap before the
/// packet, 4 a new timestamp.
private func frames(_ input: [UInt8], codec: RTPCodec) throws -> [MediaFrame] {
    var depacketizer = try Depacketizer(codec: codec)
    var rest = ByteBuffer(bytes: input)
    var timestamp: Int64 = 0
    var frames: [MediaFrame] = []
    var offered = 0
    while let flags = rest.readInteger(as: UInt8.self), let length = rest.readInteger(as: UInt16.self) {
        let count = min(Int(length) & 0x7FF, rest.readableBytes)
        guard let bytes = rest.readBytes(length: count) else { break }
        if flags & 2 != 0 { depacketizer.skipGap() }
        if flags & 4 != 0 { timestamp += 3_000 }
        offered += count
        let payload = ByteBuffer(bytes: bytes)
        _ = depacketizer.isDecodingStart(payload)
        for output in depacketizer.receive(
            payload, marker: flags & 1 != 0, timestamp: timestamp, at: .uptimeNanoseconds(1))
        {
            if case .frame(let frame) = output { frames.append(frame.frame) }
        }
    }
    return frames
}

extension FuzzTarget {
    static let h264 = FuzzTarget("h264") { try checkVideo($0, "H264") }
    static let h265 = FuzzTarget("h265") { try checkVideo($0, "H265") }

    /// Every picture consists of NAL units, each with its length in four bytes, that fill it exactly.
    private static func checkVideo(_ input: [UInt8], _ name: String) throws {
        let codec = RTPCodec(
            payloadType: 96, encodingName: name, clockRate: 90_000, formatParameters: ["packetization-mode": "1"])
        for frame in try frames(input, codec: codec) {
            var rest = frame.bytes
            try require(rest.readableBytes > 0, "an empty picture")
            while rest.readableBytes > 0 {
                guard let length = rest.readInteger(as: UInt32.self), length > 0,
                    rest.readSlice(length: Int(length)) != nil
                else { throw FuzzFailure(description: "a picture's NAL units do not fill it") }
            }
            // An assembled picture can be packetised again.
            var packetizer = Packetizer(codec: codec)
            let packets = try packetizer.packetize(frame)
            try require(packets.allSatisfy { $0.payload.readableBytes <= 1_100 }, "a payload is too long")
            try require(packets.last?.marker == true, "the last packet has no marker")
        }
    }

    /// Access units are not empty, have at most AAC-hbr's 13 bits of size, and together are not longer than the input.
    static let aac = FuzzTarget("aac") { input in
        let codec = RTPCodec(
            .audio(
                AudioParameters(codec: .aac, sampleRate: 48_000, channels: 2, audioSpecificConfig: [0x11, 0x90])),
            payloadType: 98)
        let frames = try frames(input, codec: codec)
        try require(frames.reduce(0) { $0 + $1.bytes.readableBytes } <= input.count, "more sound than received")
        try require(frames.allSatisfy { (1...8_191).contains($0.bytes.readableBytes) }, "an access unit of wrong size")
    }

    /// Frames begin with a header that has their size, and together are not longer than the input.
    static let mpegAudio = FuzzTarget("mpeg-audio") { input in
        let frames = try frames(input, codec: RTPCodec(payloadType: 14, encodingName: "MPA", clockRate: 90_000))
        try require(frames.reduce(0) { $0 + $1.bytes.readableBytes } <= input.count, "more sound than received")
        for frame in frames {
            let header = frame.bytes.getInteger(at: frame.bytes.readerIndex, as: UInt32.self).flatMap(
                MPEGAudioHeader.init)
            try require(header?.frameSize == frame.bytes.readableBytes, "a frame of another size than its header's")
        }
    }
}
