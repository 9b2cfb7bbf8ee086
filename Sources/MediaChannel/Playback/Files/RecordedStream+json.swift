import IoTCore
import RecordingStore

/// A stream on the wire: `growing`, and `stretches` with their `header` and `recordings`. A recording has its `id`, and
/// `parts` with five numbers for each: `first`, `count`, the beginning in µs since 1970, the duration in µs, and 1 if the
/// part begins with a key frame, else 0.
extension RecordedStream {
    /// More than the parts of a day.
    private static let mostParts = 200_000
    private static let numbers = 5
    private static let fragments: ClosedRange<Int64> = 0...65_535
    private static let times: Range<Int64> = 0..<1 << 53
    private static let durations: Range<Int64> = 0..<1 << 40

    var json: JSONValue {
        [
            "growing": .bool(isGrowing),
            "stretches": .array(
                stretches.map { stretch in
                    ["header": .integer(stretch.header.rawValue), "recordings": .array(Self.json(stretch.parts))]
                }),
        ]
    }

    private static func json(_ parts: [RecordedPart]) -> [JSONValue] {
        var recordings: [(segment: SegmentID, numbers: [JSONValue])] = []
        for part in parts {
            if recordings.last?.segment != part.segment { recordings.append((part.segment, [])) }
            recordings[recordings.count - 1].numbers += [
                .integer(Int64(part.first)), .integer(Int64(part.count)), .integer(part.start),
                .integer(part.duration), .integer(part.startsWithKeyFrame ? 1 : 0),
            ]
        }
        return recordings.map { ["id": .integer($0.segment.rawValue), "parts": .array($0.numbers)] }
    }

    /// - Throws: `peerFailed` for another device's JSON that no stream can have.
    init(_ json: JSONValue) throws(IoTError) {
        guard let stretches = json["stretches"]?.arrayValue else { throw Self.unreadable }
        self.init()
        isGrowing = json["growing"]?.boolValue ?? false
        var count = 0
        for stretch in stretches {
            guard let header = stretch["header"]?.integerValue.flatMap({ SegmentID(rawValue: $0) }),
                let recordings = stretch["recordings"]?.arrayValue
            else { throw Self.unreadable }
            var parts: [RecordedPart] = []
            for recording in recordings { parts += try Self.parts(recording) }
            count += parts.count
            guard !parts.isEmpty, count <= Self.mostParts else { throw Self.unreadable }
            self.stretches.append(Stretch(header: header, parts: parts))
        }
    }

    private static func parts(_ recording: JSONValue) throws(IoTError) -> [RecordedPart] {
        guard let segment = recording["id"]?.integerValue.flatMap({ SegmentID(rawValue: $0) }),
            let numbers = recording["parts"]?.arrayValue?.compactMap(\.integerValue),
            numbers.count.isMultiple(of: Self.numbers)
        else { throw unreadable }
        var parts: [RecordedPart] = []
        for place in stride(from: 0, to: numbers.count, by: Self.numbers) {
            let (first, count, start, duration) = (
                numbers[place], numbers[place + 1], numbers[place + 2], numbers[place + 3]
            )
            guard fragments.contains(first), fragments.contains(count), count > 0, times.contains(start),
                durations.contains(duration)
            else { throw unreadable }
            parts.append(
                RecordedPart(
                    segment: segment, first: Int(first), count: Int(count), start: start, duration: duration,
                    startsWithKeyFrame: numbers[place + 4] != 0))
        }
        return parts
    }

    private static var unreadable: IoTError {
        IoTError(.peerFailed, "the device described its recordings in a way that cannot be read")
    }
}
