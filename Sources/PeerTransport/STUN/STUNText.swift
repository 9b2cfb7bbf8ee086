import NIOCore

/// Text in a STUN attribute: user names, realms, software names.
///
/// Stored, compared and hashed as bytes. Anybody can send STUN attributes before authentication, and Swift's `String`
/// compares canonically: a run of combining marks would cost the square of its length.
struct STUNText: Sendable, Hashable {
    var bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    init(_ buffer: ByteBuffer) {
        bytes = Array(buffer.readableBytesView)
    }
}

extension STUNText: ExpressibleByStringInterpolation {
    init(stringLiteral value: String) {
        self.init(value)
    }
}
