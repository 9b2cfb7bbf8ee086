/// Takes a `text/event-stream` in pieces and gives its events (HTML Living Standard §9.2.6).
public struct ServerSentEventParser: Sendable {
    /// A line may hold this many bytes; a longer one is cut off and its event is dropped.
    public static let maximumEventSize = 4 << 20

    private var line: [UInt8] = []
    private var name = ""
    /// Stays until another one comes, as the standard has it.
    private var id: String?
    private var data: [String] = []
    private var dataSize = 0
    private var isOversized = false
    private var endedWithCarriageReturn = false

    public init() {}

    /// The events that these bytes completed.
    public mutating func receive(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            // CR, LF and CRLF each end a line.
            let isLineFeedOfPair = byte == 0x0A && endedWithCarriageReturn
            endedWithCarriageReturn = byte == 0x0D
            if isLineFeedOfPair { continue }
            if byte == 0x0A || byte == 0x0D {
                if let event = endLine() { events.append(event) }
            } else if line.count < Self.maximumEventSize {
                line.append(byte)
            } else {
                isOversized = true
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.isEmpty { return endEvent() }
        let field = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line.dropFirst(field.count + 1)
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: field, as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            dataSize += value.count
            if dataSize > Self.maximumEventSize { isOversized = true }
            if !isOversized { data.append(String(decoding: value, as: UTF8.self)) }
        case "id":
            // One that holds NUL is ignored, by the standard.
            if !value.contains(0), !value.isEmpty { id = String(decoding: value, as: UTF8.self) }
        default: break  // a comment (an empty field name), `retry`, or a field of the future
        }
        return nil
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            name = ""
            data = []
            dataSize = 0
            isOversized = false
        }
        guard !data.isEmpty, !isOversized else { return nil }
        return ServerSentEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"), id: id)
    }
}
