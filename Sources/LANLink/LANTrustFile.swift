import Dispatch
package import IoTCore
package import IoTLink

/// What a device's hub said about grants, in a file of the device, so that it counts after a restart without the hub. A
/// queue of its own writes the file.
package struct LANTrustFile: Sendable {
    private let path: String
    private let queue = DispatchQueue(label: "lan-trust")

    package init(path: String) {
        self.path = path
    }

    /// - Returns: `nil` if the hub was never reached.
    package func read() throws(IoTError) -> GrantTrust? {
        guard let text = try PrivateFile.text(of: path) else { return nil }
        guard let json = try? JSONValue(parsing: Array(text.utf8)),
            let trust = try? GrantTrust(LinkMembers(json, of: path, failure: .fileFailed))
        else { throw IoTError(.fileFailed, "\(path) is damaged", remedy: "remove it, and connect the box to its hub") }
        return trust
    }

    /// Writes it, if it differs from what is stored.
    package func keep(_ trust: GrantTrust) async throws(IoTError) {
        let result: Result<Void, IoTError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(IoTError) in
                        guard (try? read()) != trust else { return }
                        try PrivateFile.write(trust.json.jsonText + "\n", to: path)
                    })
            }
        }
        try result.get()
    }
}
