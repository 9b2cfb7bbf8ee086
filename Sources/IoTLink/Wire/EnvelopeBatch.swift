import IoTCore

/// Several envelopes in one message, as a JSON array, for a session whose `session.begin` says that it reads them.
public enum EnvelopeBatch {
    /// Bytes that a batch does not outgrow; an envelope that is larger goes alone.
    public static let maximumSize = 65_536

    /// The envelopes of a message in their order, whether it is one or a batch, and how many of it are malformed.
    public static func parse(_ bytes: [UInt8]) -> (envelopes: [Envelope], malformed: Int) {
        guard bytes.first == UInt8(ascii: "[") else {
            return (try? Envelope(parsing: bytes)).map { ([$0], 0) } ?? ([], 1)
        }
        guard bytes.count <= Envelope.maximumSize, let list = (try? JSONValue(parsing: bytes))?.arrayValue,
            !list.isEmpty
        else { return ([], 1) }
        let envelopes = list.compactMap { try? Envelope(json: $0) }
        return (envelopes, list.count - envelopes.count)
    }

    /// The message that carries these envelopes, of which each is JSON text; one alone stays as it is.
    public static func joined(_ envelopes: [[UInt8]]) -> [UInt8] {
        guard envelopes.count != 1 else { return envelopes[0] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(envelopes.reduce(2) { $0 + $1.count + 1 })
        for envelope in envelopes {
            bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
            bytes += envelope
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }
}
