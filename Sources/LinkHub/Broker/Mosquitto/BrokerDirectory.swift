import Crypto
import Foundation
import Glibc
import IoTCore

/// The generated files of the broker.
struct BrokerDirectory: Sendable {
    let path: String
    var settingsFile: String { path + "/mosquitto.conf" }
    var securityFile: String { path + "/dynamic-security.json" }
    var logFile: String { path + "/mosquitto.log" }

    init(dataDirectory: String) throws(IoTError) {
        path = dataDirectory + "/broker"
        try PrivateDirectory.make(path)
    }

    /// The directory of the sockets: the broker's directory, unless their paths would not fit a socket address
    /// (unix(7): 108 bytes with the final zero). Then a short private directory, whose name contains a hash of the long
    /// path.
    func socketDirectory() throws(IoTError) -> String {
        if (path + "/broker.sock").utf8.count <= 107 { return path }
        let digest = Hex.encode(SHA256.hash(data: Array(path.utf8)).prefix(8))
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"].flatMap { $0.utf8.count < 60 ? $0 : nil }
        let directory = "\(runtime ?? "/tmp")/iotvideod-\(geteuid())-\(digest)"
        try PrivateDirectory.make(directory)
        return directory
    }

    /// Empties a log that has grown past its bound. The broker appends to it, so it continues at the beginning.
    func boundLog(to limit: Int) {
        var status = stat()
        if stat(logFile, &status) == 0, status.st_size > limit { truncate(logFile, 0) }
    }

    /// The log's length in bytes.
    var logLength: Int {
        var status = stat()
        return stat(logFile, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The last lines of the log, without their times and without warnings, to explain why a broker ended.
    ///
    /// - Parameter length: The log's length before that broker started.
    func logTail(since length: Int) -> String {
        let bytes = FileManager.default.contents(atPath: logFile) ?? Data()
        // A shorter log was emptied in the meantime.
        let own = bytes.count >= length ? bytes.dropFirst(length) : bytes
        let lines = String(decoding: own.suffix(2_000), as: UTF8.self).split(separator: "\n").map { line in
            let parts = line.split(separator: ": ", maxSplits: 1)
            return parts.count == 2 && parts[0].allSatisfy(\.isNumber) ? parts[1] : line
        }
        return lines.filter { !$0.hasPrefix("Warning: ") }.suffix(3).joined(separator: " | ")
    }
}
