import IoTCore

/// Several envelopes in one message, as a JSON array, for a session whose `session.begin` says that it reads them.
public enum EnvelopeBatch {
    /// Bytes that a batch does not outgrow; an envelope that is larger goes alone.
    public static let maximumSize = 65_536

    /// Envelopes that a batch has at most: half of the requests that a session runs at a time.
    public static let maximumCount = 32

    /// What the hub received is at most 128 deep, and lies a few levels deeper in what it sends. An envelope that is
    /// refused for its depth would take the others of its batch along.
    private static let maximumDepth = 160

    /// The envelopes of a message in their order, whether it is one or a batch, and how many of it are malformed.
    public static func parse(_ bytes: [UInt8]) -> (envelopes: [Envelope], malformed: Int) {
        guard bytes.count <= Envelope.maximumSize,
            let json = try? JSONValue(parsing: bytes, maximumDepth: maximumDepth)
        else { return ([], 1) }
        let list = json.arrayValue ?? [json]
        let envelopes = list.compactMap { try? Envelope(json: $0) }
        return (envelopes, list.isEmpty ? 1 : list.count - envelopes.count)
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
