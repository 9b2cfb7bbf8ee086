import NIOCore

@testable import PeerTransport

extension FuzzTarget {
    /// A parsed message, written and parsed again, is the same, and a forgery never becomes authentic by that.
    static let stun = FuzzTarget("stun") { input in
        guard let message = try? STUNMessage(parsing: ByteBuffer(bytes: input)) else { return }
        let key: [UInt8] = [1, 2, 3]
        try require(!message.isAuthentic(key: key), "a message was authentic under a key it cannot know")
        try require(message.attributes.count <= input.count / 4, "more attributes than fit")
        let written = message.datagram(key: key)
        let again = try STUNMessage(parsing: written)
        try require(again.isAuthentic(key: key), "our message is not authentic")
        try require(again.hasFingerprint, "our message has no fingerprint")
        try require(
            again.messageClass == message.messageClass && again.method == message.method
                && again.transactionID == message.transactionID && again.attributes == message.attributes,
            "\(message.attributes) became \(again.attributes)")
    }
}
