public import IoTCore

/// The provisioning QR code that a camera scans, ready to display.
public struct ProvisioningQRCode: Sendable {
    /// Cheap cameras do not read more bytes than this well (version 8 contains them).
    public static let comfortableByteCount = 150

    /// The default size of a picture, in pixels a side.
    public static let defaultSize = 800

    /// The code's exact content.
    public let content: [UInt8]

    /// The content as text; `nil` if it is not UTF-8.
    public var text: String? { String(validating: content, as: UTF8.self) }

    public let code: QRCode

    /// The PNG file's bytes.
    public let png: [UInt8]

    /// Valid properties that may not work with every camera; each is a sentence for the user.
    public private(set) var warnings: [String]

    /// For a dark terminal, without escape sequences.
    public var terminal: String { code.terminalText() }

    /// For every terminal, with colours set by escape sequences.
    public var colouredTerminal: String { code.terminalText(colours: true) }

    /// - Parameter size: The PNG's width and height in pixels; see `QRCode.png(size:)`.
    /// - Throws: `invalidQRInput` (25012) that names the wrong field; `payloadTooLarge` (25013) if it does not fit.
    public static func make(
        payload: ProvisioningPayload, format: ProvisioningFormat = .tlv, size: Int = defaultSize
    ) throws(IoTError) -> ProvisioningQRCode {
        var code = try make(content: try payload.encoded(as: format), size: size)
        code.warnings = payload.warnings + code.warnings
        return code
    }

    /// The same for a format of the caller.
    public static func make(content: [UInt8], size: Int = defaultSize) throws(IoTError) -> ProvisioningQRCode {
        let code = try QRCode(content)
        let png = try code.png(size: size)
        var warnings: [String] = []
        if content.count > comfortableByteCount {
            warnings.append(
                "the payload has \(content.count) bytes; cheap cameras read at most \(comfortableByteCount) well:"
                    + " shorten the token or leave fields out")
        }
        let moduleSize = code.moduleSize(inPictureOf: size)
        if moduleSize < 4 {
            warnings.append("a module is only \(moduleSize) pixels wide; a larger size is read more easily")
        }
        return ProvisioningQRCode(content: content, code: code, png: png, warnings: warnings)
    }
}
