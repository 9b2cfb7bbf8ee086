import IoTCore
import NIOCore

@testable import RTP

extension FuzzTarget {
    /// For any packets in any order at any time: waiting packets are bounded, frames are in order, each poll ends.
    static let receiver = FuzzTarget("receiver") { input in
        let codec = RTPCodec(
            payloadType: 96, encodingName: "H264", clockRate: 90_000, formatParameters: ["packetization-mode": "1"])
        var configuration = RTPReceiverConfiguration(localSSRC: 1, canonicalName: "fuzz")
        configuration.maximumBufferedPackets = 32
        configuration.maximumMissingPackets = 64
        var receiver = try RTPReceiver(codecs: [codec], configuration: configuration)
        var rest = ByteBuffer(bytes: input)
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        // Five bytes a packet: its kind, its number, and the time since the previous one.
        while let (kind, number, wait) = rest.readMultipleIntegers(as: (UInt8, UInt16, UInt16).self) {
            now = now + .microseconds(Int64(wait) * 20)
            let payload: [UInt8]
            switch kind & 7 {
            case 0: payload = [0x65, 0x88, 1, 2, 3]
            case 1: payload = [0x41, 0x9A, 4, 5, 6]
            case 2: payload = [0x7C, 0x85, 7, 7, 7]
            case 3: payload = [0x7C, 0x05, 8, 8, 8]
            case 4: payload = [0x7C, 0x45, 9, 9, 9]
            case 5: payload = [0x67, 0x42, 0, 0x1F]
            case 6: payload = []
            default: payload = rest.readBytes(length: min(8, rest.readableBytes)) ?? []
            }
            let packet = RTPPacket(
                payloadType: kind & 0x40 == 0 ? 96 : 97, marker: kind & 8 != 0, sequenceNumber: number,
                timestamp: UInt32(number / 4) &* 3_000, ssrc: kind & 0x80 == 0 ? 7 : 8,
                payload: ByteBuffer(bytes: payload))
            if kind & 0x20 != 0 { receiver.handleTimeout(at: now) }
            receiver.handle(packet, at: now)
            if kind & 0x10 != 0 { receiver.requestKeyFrame(at: now) }
            var outputs = 0
            poll: while let output = receiver.poll() {
                outputs += 1
                try require(outputs <= 2_000, "a packet causes more than two thousand outputs")
                if case .timeout = output { break poll }
                if case .rtcp(let packets) = output {
                    var written = ByteBuffer()
                    RTCPPacket.write(compound: packets, into: &written)
                    try require(written.readableBytes <= 1_180, "feedback of \(written.readableBytes) bytes")
                }
            }
            try require(receiver.stream?.waiting.count ?? 0 <= 33, "too many packets wait")
        }
    }
}
