/// Parses a `text/event-stream` that arrives in pieces (HTML Living Standard §9.2.6).
public struct ServerSentEventParser: Sendable {
    /// The maximum number of bytes in a line or an event. A larger event is dropped.
    public static let maximumEventSize = 4 << 20

    private var line: [UInt8] = []
    private var name = ""
    /// The last id, which applies to all later events until it changes, as the standard requires.
    private var id: String?
    private var data: [String] = []
    private var dataSize = 0
    private var isOversized = false
    private var endedWithCarriageReturn = false

    public init() {}

    /// Returns the events that these bytes complete.
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
            // Ids that contain NUL are ignored, as the standard requires.
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
