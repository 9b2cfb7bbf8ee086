public import IoTCore

/// The source of a principal's access token (a JWT).
public enum LinkToken: Sendable, CustomStringConvertible {
    case value(String)
    case file(path: String)

    /// Never contains the token.
    public var description: String {
        switch self {
        case .value: "token"
        case .file(let path): "token file \(path)"
        }
    }

    /// The largest token file, in bytes.
    static let maximumSize = 16_384

    /// Returns the token; a file's without surrounding white space. Throws 25002 for a file that others may read or
    /// that is empty, 25017 for a file that cannot be read.
    public func read() throws(IoTError) -> String {
        switch self {
        case .value(let token): return token
        case .file(let path): return try Self.read(file: path)
        }
    }

    private static func read(file path: String) throws(IoTError) -> String {
        let bytes: [UInt8]
        do throws(IoTError) {
            guard let found = try PrivateFile.bytes(of: path, limit: maximumSize) else {
                throw PrivateFile.missing(path)
            }
            bytes = found
        } catch {
            throw error.withMessage("link.tokenFile: \(error.message)")
        }
        let token = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        guard !token.isEmpty else {
            throw IoTError(
                .invalidConfiguration, "link.tokenFile: \(path) must hold one token and nothing else; get a new one")
        }
        return token
    }

    /// Replaces the file atomically, mode 0600, so that it survives a power cut. Throws 25017.
    static func write(_ token: String, toFile path: String) throws(IoTError) {
        do throws(IoTError) {
            try PrivateFile.write(token + "\n", to: path)
        } catch {
            throw error.withMessage("link.tokenFile: \(error.message)")
        }
    }
}

extension String {
    fileprivate func trimmingWhitespace() -> String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let last = lastIndex { !$0.isWhitespace }
        return last.map { String(self[start...$0]) } ?? ""
    }
}
