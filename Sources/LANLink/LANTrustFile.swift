import Dispatch
import Glibc
package import IoTCore
package import IoTLink

/// What a device's hub said about grants, in a file of the device, so that it counts after a restart without the hub. A
/// queue of its own writes the file.
package struct LANTrustFile: Sendable {
    package struct Record: Sendable, Equatable {
        package var trust: GrantTrust
        /// ms since 1970, on the hub's clock.
        package var hubTime: Int64

        package init(trust: GrantTrust, hubTime: Int64) {
            self.trust = trust
            self.hubTime = hubTime
        }
    }

    private static let time = "hubTime"

    private let path: String
    private let queue = DispatchQueue(label: "lan-trust")

    package init(path: String) {
        self.path = path
    }

    /// - Returns: `nil` if the hub was never reached.
    package func read() throws(IoTError) -> Record? {
        guard let text = try PrivateFile.text(of: path) else { return nil }
        guard let json = try? JSONValue(parsing: Array(text.utf8)),
            let trust = try? GrantTrust(LinkMembers(json, of: path, failure: .fileFailed))
        else { throw IoTError(.fileFailed, "\(path) is damaged", remedy: "remove it, and connect the box to its hub") }
        return Record(trust: trust, hubTime: json[Self.time]?.integerValue ?? 0)
    }

    package func remove() async {
        await withCheckedContinuation { continuation in
            queue.async {
                unlink(path)
                continuation.resume()
            }
        }
    }

    /// Writes it, if it differs from what is stored.
    package func keep(_ record: Record) async throws(IoTError) {
        let result: Result<Void, IoTError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(IoTError) in
                        guard (try? read()) != record else { return }
                        var json = record.trust.json
                        json[Self.time] = .integer(record.hubTime)
                        try PrivateFile.write(json.jsonText + "\n", to: path)
                    })
            }
        }
        try result.get()
    }
}
