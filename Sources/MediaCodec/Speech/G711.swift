/// The encoder of ITU-T G.711. libav's works on packets of one codec context, which would cost more than the codec.
package enum G711 {
    /// G.711 §3.2: 14 bits, the magnitude with a bias of 33, complemented.
    package static func muLaw(_ sample: Int16) -> UInt8 {
        let magnitude = min((Int(sample < 0 ? ~sample : sample) >> 2) + 33, 0x1FFF)
        // The segment is the position of the highest bit above the sixth.
        let segment = 8 - (magnitude >> 6 == 0 ? 0 : Int.bitWidth - (magnitude >> 6).leadingZeroBitCount) - 1
        let step = magnitude >> (8 - segment) & 0xF
        return (sample < 0 ? 0 : 0x80) | UInt8(segment << 4) | UInt8(0xF - step)
    }

    /// G.711 §3.1: 13 bits, every second bit inverted.
    package static func aLaw(_ sample: Int16) -> UInt8 {
        var magnitude = Int(sample < 0 ? ~sample : sample) >> 4
        if magnitude > 15 {
            var segment = 1
            while magnitude > 31 {
                magnitude >>= 1
                segment += 1
            }
            magnitude += (segment - 1) << 4
        }
        return (UInt8(magnitude) | (sample < 0 ? 0 : 0x80)) ^ 0x55
    }
}
