import IoTCore
import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import RTP

@Suite struct HeaderExtensionTests {
    private func identifiers(
        mid: UInt8? = 1, time: UInt8? = 2, number: UInt8? = 3, delay: UInt8? = 4
    ) -> HeaderExtensionIdentifiers {
        var identifiers = HeaderExtensionIdentifiers()
        identifiers.mid = mid
        identifiers.absoluteSendTime = time
        identifiers.transportSequenceNumber = number
        identifiers.playoutDelay = delay
        return identifiers
    }

    private func whole(_ identifiers: HeaderExtensionIdentifiers) -> OutgoingHeaderExtension {
        var outgoing = OutgoingHeaderExtension(identifiers)
        outgoing.mid = Array("v0".utf8)
        outgoing.absoluteSendTime = 0xABCDEF
        outgoing.transportSequenceNumber = 0x1234
        outgoing.playoutDelay = PlayoutDelay(minimum: .milliseconds(50), maximum: .milliseconds(2_550)).packed
        return outgoing
    }

    private func packet(_ written: ByteBuffer) throws -> RTPPacket {
        var buffer = ByteBuffer(hex: "9060 0001 00000002 00000003")
        buffer.writeImmutableBuffer(written)
        buffer.writeBytes([9, 9])
        return try RTPPacket(parsing: buffer)
    }

    /// Hand-written from RFC 8285 §4.2 and §4.3.
    @Test(
        "Extensions are written in the format of RFC 8285 and parsed back",
        arguments: [
            (UInt8(1), "bede 0004 311234 22abcdef 420050ff 117630 0000"),
            (20, "1000 0005 03021234 0203abcdef 04030050ff 14027630 0000"),
        ])
    func golden(mid: UInt8, hex: String) throws {
        let identifiers = identifiers(mid: mid)
        var buffer = ByteBuffer()
        #expect(whole(identifiers).write(into: &buffer))
        #expect(buffer == ByteBuffer(hex: hex), "\(buffer.hex)")
        let read = IncomingHeaderExtension(try packet(buffer), identifiers)
        #expect(read.mid == "v0" && read.transportSequenceNumber == 0x1234)
        #expect(read.playoutDelay == PlayoutDelay(minimum: .milliseconds(50), maximum: .milliseconds(2_550)))
        #expect(try packet(buffer).payload.hex == "0909")
    }

    /// By 3GPP TS 26.114 §7.4.5: quarters that the receiver turns the picture clockwise; the other bits do not matter here.
    @Test(
        "A rotation is written as a video orientation, clockwise, and parsed back",
        arguments: [
            (PictureRotation.none, "bede 0001 50000000"), (.right, "bede 0001 50010000"), (.half, "bede 0001 50020000"),
            (.left, "bede 0001 50030000"),
        ])
    func orientation(rotation: PictureRotation, hex: String) throws {
        var identifiers = HeaderExtensionIdentifiers()
        identifiers.videoOrientation = 5
        var outgoing = OutgoingHeaderExtension(identifiers)
        outgoing.videoOrientation = rotation.orientation
        var buffer = ByteBuffer()
        #expect(outgoing.write(into: &buffer) && buffer == ByteBuffer(hex: hex), "\(buffer.hex)")
        let read = IncomingHeaderExtension(try packet(buffer), identifiers)
        #expect(read.videoOrientation == rotation.orientation)
        #expect(PictureRotation(orientation: rotation.orientation | 0xFC) == rotation)
    }

    @Test("Extensions that were not negotiated are not written; a MID over 16 bytes needs the two-byte form")
    func parts() throws {
        var buffer = ByteBuffer()
        #expect(!whole(identifiers(mid: nil, time: nil, number: nil, delay: nil)).write(into: &buffer))
        #expect(!OutgoingHeaderExtension(identifiers()).write(into: &buffer))
        #expect(buffer.readableBytes == 0)
        var outgoing = OutgoingHeaderExtension(identifiers())
        outgoing.transportSequenceNumber = 7
        #expect(outgoing.write(into: &buffer))
        #expect(buffer.hex == "bede0001" + "31000700")
        buffer.clear()
        outgoing.mid = Array("a section's long name".utf8)
        #expect(outgoing.write(into: &buffer))
        #expect(buffer.hex.hasPrefix("1000"))
        #expect(IncomingHeaderExtension(try packet(buffer), identifiers()).mid == "a section's long name")
    }

    @Test("abs-send-time has 18 fractional bits and wraps after 64 s")
    func absoluteSendTime() {
        #expect(AbsoluteSendTime.packed(.uptimeNanoseconds(1_500_000_000)) == 3 << 17)
        #expect(AbsoluteSendTime.packed(.uptimeNanoseconds(64_000_000_000 + 250_000_000)) == 1 << 16)
        #expect(AbsoluteSendTime.packed(.uptimeNanoseconds(63_999_999_999)) == 0)
    }

    @Test("Written elements are parsed back; damaged packets never trap")
    func property() throws {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<2_000 {
            var used: Set<UInt8> = []
            let isLong = Bool.random(using: &random)
            let elements = (0..<Int.random(in: 0...6, using: &random)).compactMap { _ in
                let identifier = UInt8.random(in: 1...(isLong ? 255 : 14), using: &random)
                guard identifier != 15, used.insert(identifier).inserted else {
                    return nil as RTPHeaderExtension.Element?
                }
                let count = isLong ? Int.random(in: 0...40, using: &random) : Int.random(in: 1...16, using: &random)
                return .init(identifier: identifier, data: ByteBuffer(bytes: random.bytes(count)))
            }
            let headerExtension = RTPHeaderExtension(elements: elements)
            #expect(headerExtension.elements == elements)
            var packet = RTPPacket(
                payloadType: 96, marker: true, sequenceNumber: 1, timestamp: 2, ssrc: 3,
                headerExtension: headerExtension, payload: ByteBuffer(bytes: [1, 2, 3]))
            var buffer = ByteBuffer()
            packet.write(into: &buffer)
            let read = try RTPPacket(parsing: buffer)
            #expect(read.headerExtension?.elements == elements && read.payload == packet.payload)
            #expect(buffer.readableBytes == packet.headerByteCount + 3)
            // Damage.
            let place = Int.random(in: 0..<buffer.readableBytes, using: &random)
            buffer.setInteger(UInt8.random(in: 0...255, using: &random), at: place)
            buffer.moveWriterIndex(to: Int.random(in: 0...buffer.readableBytes, using: &random))
            if let damaged = try? RTPPacket(parsing: buffer) {
                _ = IncomingHeaderExtension(damaged, identifiers())
                packet = damaged
                var again = ByteBuffer()
                packet.write(into: &again)
                #expect(try RTPPacket(parsing: again).payload == damaged.payload)
            }
        }
    }
}
