import Crypto
import IoTCore
import IoTLink

/// The content of a request as 64 bits: the same for a repeat, even if its time, deadline or time-out differs. It
/// protects a client only against its own mistakes.
struct RequestContent: Sendable, Hashable {
    let digest: Int64

    init(digest: Int64) {
        self.digest = digest
    }

    init(_ request: LinkRequest) {
        var params = request.params
        params["timeoutMilliseconds"] = nil
        // Equal values have equal texts.
        let content: JSONValue = [
            .string(request.method), .string(request.actingAs?.description ?? ""), params,
        ]
        let bytes = SHA256.hash(data: content.jsonBytes).prefix(8)
        digest = Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// - Parameter first: The first request with the same id; `nil` if it is not known.
    /// - Throws: 25028 if this is a different request.
    func check(isRepeatOf first: RequestContent?) throws(IoTError) {
        guard let first, first != self else { return }
        throw IoTError(.requestIDReused)
    }
}
