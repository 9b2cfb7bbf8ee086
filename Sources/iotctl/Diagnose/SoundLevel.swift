import NIOCore

/// The loudest sample of a WAV stream with 16-bit samples, as the daemon writes it.
struct SoundLevel {
    /// The bytes of the header (RIFF, `fmt `, `data`).
    private static let headerSize = 44

    private var skipped = 0
    private var half: UInt8?
    private var magnitude = 0
    private(set) var hasSamples = false

    /// From 0 to 1.
    var loudest: Double? { hasSamples ? Double(magnitude) / 32768 : nil }

    mutating func take(_ bytes: ByteBuffer) {
        for byte in bytes.readableBytesView {
            guard skipped == Self.headerSize else {
                skipped += 1
                continue
            }
            guard let low = half else {
                half = byte
                continue
            }
            half = nil
            hasSamples = true
            magnitude = max(magnitude, abs(Int(Int16(bitPattern: UInt16(low) | UInt16(byte) << 8))))
        }
    }
}
