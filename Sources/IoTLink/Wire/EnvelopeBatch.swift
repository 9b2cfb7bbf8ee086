import IoTCore

/// Several envelopes in one message, as a JSON array. It is sent only to a session that accepts batches in its
/// `session.begin`, and to a hub that accepts them in its answer.
public enum EnvelopeBatch {
    /// The maximum bytes of a batch. A larger envelope is sent alone.
    public static let maximumSize = 65_536

    /// The maximum number of envelopes of a batch: half of the requests that a session runs at a time.
    public static let maximumCount = 32

    /// The hub accepts JSON of up to 128 levels and nests it a few levels deeper in what it sends. An envelope that
    /// were refused for its depth would lose its whole batch.
    private static let maximumDepth = 160

    /// Parses a message, which is one envelope or a batch. Returns the envelopes in order, and how many were malformed.
    public static func parse(_ bytes: [UInt8]) -> (envelopes: [Envelope], malformed: Int) {
        guard bytes.count <= Envelope.maximumSize,
            let json = try? JSONValue(parsing: bytes, maximumDepth: maximumDepth)
        else { return ([], 1) }
        let list = json.arrayValue ?? [json]
        let envelopes = list.compactMap { try? Envelope(json: $0) }
        return (envelopes, list.isEmpty ? 1 : list.count - envelopes.count)
    }

    /// The texts of a message's envelopes, in order, without parsing them. What is not a batch of the permitted size is
    /// returned unchanged, as one text.
    public static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        var scanner = JSONScanner(bytes: bytes)
        guard scanner.take(UInt8(ascii: "[")), bytes.count <= maximumSize else { return [bytes] }
        var envelopes: [[UInt8]] = []
        repeat {
            scanner.skipWhitespace()
            let start = scanner.position
            scanner.skipValue()
            envelopes.append(Array(bytes[start..<scanner.position]))
        } while envelopes.count < maximumCount && scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "]")) else { return [bytes] }
        scanner.skipWhitespace()
        return scanner.position == bytes.count ? envelopes : [bytes]
    }

    /// A message that grows by one envelope after the other.
    public struct Growing {
        private var envelopes: [[UInt8]]
        /// Bytes of the message, with its brackets.
        private var size: Int

        public init(_ first: [UInt8]) {
            envelopes = [first]
            size = first.count + 2
        }

        /// - Returns: false if the envelope finds no room.
        public mutating func add(_ envelope: [UInt8]) -> Bool {
            guard envelopes.count < maximumCount, size + envelope.count + 1 <= maximumSize else { return false }
            envelopes.append(envelope)
            size += envelope.count + 1
            return true
        }

        public var message: [UInt8] { joined(envelopes) }
    }

    /// Joins envelopes, each as JSON text, into one message. A single envelope is returned unchanged.
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
