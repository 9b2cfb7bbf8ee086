public import NIOCore

/// The properties of an Opus packet that can be read without decoding it (RFC 6716 §3).
public struct OpusPacket: Sendable, Hashable {
    /// Samples in each frame at 48 kHz: 120 to 2880.
    public let samplesPerFrame: Int

    /// Frames in the packet, at least 1.
    public let frameCount: Int

    /// 1 or 2; may change from packet to packet.
    public let channels: Int

    /// The packet's duration in RTP ticks: 120 to 5760 (120 ms).
    public var samples: Int { samplesPerFrame * frameCount }

    private static let maximumSamples = 5_760
    private static let maximumFrameSize = 1_275

    /// `nil` for a packet that violates RFC 6716 §3.4.
    public init?(_ packet: ByteBuffer) {
        var rest = packet
        guard let first = rest.readInteger(as: UInt8.self) else { return nil }
        samplesPerFrame = Self.samplesPerFrame(configuration: Int(first >> 3))
        channels = first & 4 == 0 ? 1 : 2
        switch first & 3 {
        case 0:
            guard rest.readableBytes <= Self.maximumFrameSize else { return nil }
            frameCount = 1
        case 1:
            guard rest.readableBytes.isMultiple(of: 2), rest.readableBytes / 2 <= Self.maximumFrameSize else {
                return nil
            }
            frameCount = 2
        case 2:
            guard let size = Self.readSize(&rest), size <= rest.readableBytes,
                rest.readableBytes - size <= Self.maximumFrameSize
            else { return nil }
            frameCount = 2
        default:
            guard let count = Self.readFrames(&rest), count * samplesPerFrame <= Self.maximumSamples else { return nil }
            frameCount = count
        }
    }

    /// RFC 6716 table 2.
    private static func samplesPerFrame(configuration: Int) -> Int {
        switch configuration {
        case 0..<12: [480, 960, 1_920, 2_880][configuration % 4]
        case 12..<16: configuration.isMultiple(of: 2) ? 480 : 960
        default: [120, 240, 480, 960][configuration % 4]
        }
    }

    /// §3.2.1: one byte, or two if the first is at least 252.
    private static func readSize(_ rest: inout ByteBuffer) -> Int? {
        guard let first = rest.readInteger(as: UInt8.self) else { return nil }
        guard first >= 252 else { return Int(first) }
        return rest.readInteger(as: UInt8.self).map { Int($0) * 4 + Int(first) }
    }

    /// §3.2.5: any number of frames, followed by padding.
    private static func readFrames(_ rest: inout ByteBuffer) -> Int? {
        guard let flags = rest.readInteger(as: UInt8.self) else { return nil }
        let count = Int(flags & 0x3F)
        guard count > 0 else { return nil }
        var padding = 0
        if flags & 0x40 != 0 {
            while true {
                guard let byte = rest.readInteger(as: UInt8.self) else { return nil }
                padding += byte == 255 ? 254 : Int(byte)
                if byte != 255 { break }
            }
        }
        var sized = 0
        if flags & 0x80 != 0 {
            for _ in 0..<(count - 1) {
                guard let size = readSize(&rest) else { return nil }
                sized += size
            }
            let last = rest.readableBytes - padding - sized
            return (0...maximumFrameSize).contains(last) ? count : nil
        }
        let size = rest.readableBytes - padding
        return size >= 0 && size.isMultiple(of: count) && size / count <= maximumFrameSize ? count : nil
    }
}
