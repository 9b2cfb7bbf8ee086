import NIOCore

@testable import PeerTransport

extension FuzzTarget {
    /// What is read is written and read again the same, and a forgery never becomes authentic by it.
    static let stun = FuzzTarget("stun") { input in
        guard let message = try? STUNMessage(parsing: ByteBuffer(bytes: input)) else { return }
        let key: [UInt8] = [1, 2, 3]
        try require(!message.isAuthentic(key: key), "a message was authentic under a key it cannot know")
        try require(message.attributes.count <= input.count / 4, "more attributes than there is room for")
        let written = message.datagram(key: key)
        let again = try STUNMessage(parsing: written)
        try require(again.isAuthentic(key: key), "what we wrote is not authentic")
        try require(again.hasFingerprint, "what we wrote has no fingerprint")
        try require(
            again.messageClass == message.messageClass && again.method == message.method
                && again.transactionID == message.transactionID && again.attributes == message.attributes,
            "\(message.attributes) became \(again.attributes)")
    }
}
