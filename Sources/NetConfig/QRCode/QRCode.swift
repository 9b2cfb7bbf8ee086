import CQREncode
public import IoTCore

/// A QR code (ISO/IEC 18004): byte mode, error correction M, the smallest version that can contain the bytes.
public struct QRCode: Sendable, Hashable {
    /// The capacity of version 40 at level M.
    public static let maximumByteCount = 2331

    /// The required light modules around the code on every side.
    public static let quietZone = 4

    /// 1 to 40.
    public let version: Int

    /// Modules a side, without the quiet zone: 17 + 4 × version.
    public let width: Int

    /// Row by row, true means dark.
    private let modules: [Bool]

    /// Throws `payloadTooLarge` for more bytes than version 40 can contain, `invalidQRInput` for none.
    public init(_ bytes: [UInt8]) throws(IoTError) {
        guard !bytes.isEmpty else { throw IoTError(.invalidQRInput, "payload: there is nothing to encode") }
        guard bytes.count <= Self.maximumByteCount, let count = CInt(exactly: bytes.count) else {
            throw IoTError(
                .payloadTooLarge,
                "the payload has \(bytes.count) bytes; a QR code holds at most \(Self.maximumByteCount)")
        }
        // Version 0 means the smallest that fits.
        guard let code = QRcode_encodeData(count, bytes, 0, QR_ECLEVEL_M) else {
            throw IoTError(.internalFailure, "libqrencode could not encode \(bytes.count) bytes")
        }
        defer { QRcode_free(code) }
        version = Int(code.pointee.version)
        width = Int(code.pointee.width)
        // The lowest bit of each byte is the module's colour; the other bits are its kind.
        modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// Whether a module is dark; light everywhere outside the code.
    public func isDark(row: Int, column: Int) -> Bool {
        guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
        return modules[row * width + column]
    }

    /// Modules a side with the quiet zone.
    public var widthWithQuietZone: Int { width + 2 * Self.quietZone }
}
