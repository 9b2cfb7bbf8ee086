import Crypto
import IoTCore
import IoTLink

/// What a request asks, in 64 bits: the same for a repeat, whatever its time, deadline and time-out. It guards a client against
/// its own mistakes, and no more.
struct RequestContent: Sendable, Hashable {
    let digest: Int64

    init(digest: Int64) {
        self.digest = digest
    }

    init(_ request: LinkRequest) {
        var params = request.params
        params["timeoutMilliseconds"] = nil
        // Of equal values the text is equal.
        let content: JSONValue = [
            .string(request.method), .string(request.actingAs?.description ?? ""), params,
        ]
        let bytes = SHA256.hash(data: Array(content.jsonText.utf8)).prefix(8)
        digest = Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// - Parameter first: what came first under the same id; `nil` when it is not known.
    /// - Throws: 25028 when this is something else.
    func check(isRepeatOf first: RequestContent?) throws(IoTError) {
        guard let first, first != self else { return }
        throw IoTError(.requestIDReused)
    }
}
