import IoTCore
import NIOCore
import Testing

@Suite struct NALUnitTests {
    private func units(_ bytes: [UInt8]) -> [[UInt8]] {
        NALUnitSequence(ByteBuffer(bytes: bytes)).map { Array($0.readableBytesView) }
    }

    @Test("Units after 4-byte lengths are found one by one")
    func sequence() {
        #expect(units([0, 0, 0, 2, 0x67, 1, 0, 0, 0, 1, 0x68]) == [[0x67, 1], [0x68]])
        #expect(units([]) == [])
        let frame = MediaFrame(
            kind: .video, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [0, 0, 0, 1, 0x65]))
        #expect(frame.nalUnits.map { $0.getInteger(at: $0.readerIndex, as: UInt8.self) } == [0x65])
    }

    @Test(
        "A damaged length ends the sequence and never traps",
        arguments: [
            [0], [0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2, 1], [0xFF, 0xFF, 0xFF, 0xFF, 1], [0x7F, 0xFF, 0xFF, 0xFF],
            [0, 0, 0, 0, 0, 0, 0, 1, 9],
        ] as [[UInt8]])
    func damaged(bytes: [UInt8]) {
        #expect(units(bytes) == [])
    }

    @Test("The units before the damage are kept")
    func partlyDamaged() {
        #expect(units([0, 0, 0, 1, 9, 0, 0, 0, 9, 1]) == [[9]])
    }

    // ITU-T H.264 table 7-1, H.265 table 7-1.
    @Test("Types are read from the first byte, for both codecs")
    func types() {
        let sps = NALUnitType(codec: .h264, firstByte: 0x67)
        #expect(sps.rawValue == 7 && sps.isParameterSet && sps.isSequenceParameterSet && !sps.isSlice)
        #expect(NALUnitType(codec: .h264, firstByte: 0x68).isParameterSet)
        let idr = NALUnitType(codec: .h264, firstByte: 0x65)
        #expect(idr.isRandomAccess && idr.isSlice)
        let picture = NALUnitType(codec: .h264, firstByte: 0x41)
        #expect(!picture.isRandomAccess && picture.isSlice)
        #expect(!NALUnitType(codec: .h264, firstByte: 0x06).isSlice)
        for (byte, number) in [(0x40, 32), (0x42, 33), (0x44, 34)] as [(UInt8, UInt8)] {
            let type = NALUnitType(codec: .h265, firstByte: byte)
            #expect(type.rawValue == number && type.isParameterSet && !type.isSlice)
        }
        #expect(NALUnitType(codec: .h265, firstByte: 19 << 1).isRandomAccess)
        #expect(NALUnitType(codec: .h265, firstByte: 21 << 1).isRandomAccess)
        #expect(!NALUnitType(codec: .h265, firstByte: 1 << 1).isRandomAccess)
        #expect(!NALUnitType(codec: .h265, firstByte: 22 << 1).isRandomAccess)
        #expect(NALUnitType(codec: .h265, firstByte: 1 << 1).isSlice)
    }
}
