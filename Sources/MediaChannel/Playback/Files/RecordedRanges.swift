import IoTCore
import RecordingStore

/// The stretches of a camera's recordings without a gap. On the wire: `ranges`, with three values for each, the beginning and
/// the end in µs since 1970 and the type; and `next`, with which the list continues.
package struct RecordedRanges: Sendable, Hashable {
    package struct Stretch: Sendable, Hashable {
        /// µs since 1970.
        package var times: Range<Int64>
        /// As `RecordedItem.type`.
        package var type: String
    }

    private static let values = 3

    package var stretches: [Stretch]
    package var next: String?

    init(_ page: RecordingPage<RecordedRange>) {
        stretches = page.entries.map { Stretch(times: $0.times, type: RecordedItem.type($0.reason)) }
        next = page.next
    }

    var json: JSONValue {
        var json: JSONValue = [
            "ranges": .array(
                stretches.flatMap { stretch in
                    [.integer(stretch.times.lowerBound), .integer(stretch.times.upperBound), .string(stretch.type)]
                })
        ]
        json["next"] = next.map { .string($0) }
        return json
    }

    /// - Throws: `peerFailed` for JSON that no list can have.
    init(_ json: JSONValue) throws(IoTError) {
        guard let values = json["ranges"]?.arrayValue, values.count.isMultiple(of: Self.values) else {
            throw Self.unreadable
        }
        stretches = []
        for place in stride(from: 0, to: values.count, by: Self.values) {
            guard let start = values[place].integerValue, let end = values[place + 1].integerValue,
                let type = values[place + 2].stringValue, 0 <= start, start < end, end < 1 << 60
            else { throw Self.unreadable }
            stretches.append(Stretch(times: start..<end, type: type))
        }
        next = json["next"]?.stringValue
    }

    private static var unreadable: IoTError {
        IoTError(.peerFailed, "the device described its recordings in a way that cannot be read")
    }
}
