import Glibc
public import IoTCore

/// Where a principal's access token (a JWT) comes from.
public enum LinkToken: Sendable, CustomStringConvertible {
    case value(String)
    case file(path: String)

    /// Never the token.
    public var description: String {
        switch self {
        case .value: "token"
        case .file(let path): "token file \(path)"
        }
    }

    /// The largest token file, in bytes.
    static let maximumSize = 16_384

    /// The token without surrounding white space. Throws 25002 for a file that others may read or that holds no
    /// token, 25017 for one that cannot be read.
    public func read() throws(IoTError) -> String {
        switch self {
        case .value(let token): return token
        case .file(let path): return try Self.read(file: path)
        }
    }

    private static func read(file path: String) throws(IoTError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(path, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(path, "it is no file") }
        do throws(IoTError) {
            try FileSecrecy.owner.check(path: path, mode: status.st_mode)
        } catch {
            throw error.withMessage("link.tokenFile: \(error.message)")
        }
        var bytes = [UInt8](repeating: 0, count: maximumSize + 1)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
            }
            if taken < 0, errno == EINTR { continue }
            guard taken >= 0 else { throw failure(path, String(cString: strerror(errno))) }
            guard taken > 0 else { break }
            count += taken
        }
        let token = String(decoding: bytes[..<count], as: UTF8.self).trimmingWhitespace()
        guard !token.isEmpty, count <= maximumSize else {
            throw IoTError(
                .invalidConfiguration, "link.tokenFile: \(path) must hold one token and nothing else; get a new one")
        }
        return token
    }

    /// Replaces the file as a whole, mode 0600, so that it lasts over a power cut. Throws 25017.
    static func write(_ token: String, toFile path: String) throws(IoTError) {
        do throws(IoTError) {
            try PrivateFile.write(token + "\n", to: path)
        } catch {
            throw error.withMessage("link.tokenFile: \(error.message)")
        }
    }

    private static func failure(_ path: String, _ reason: String) -> IoTError {
        IoTError(.fileFailed, "link.tokenFile: \(path) cannot be read: \(reason)")
    }
}

extension String {
    fileprivate func trimmingWhitespace() -> String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let last = lastIndex { !$0.isWhitespace }
        return last.map { String(self[start...$0]) } ?? ""
    }
}
