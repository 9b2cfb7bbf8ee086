import IoTCore
import NIOCore
import Testing

@testable import MediaChannel
@testable import RecordingStore

@Suite("Requests for files of recordings")
struct FileRequestTests {
    private let camera = CameraNumber(rawValue: 3)!

    private func parse(_ text: String) throws(IoTError) -> FileRequest {
        guard let json = try? JSONValue(parsing: text) else { throw IoTError(.invalidRequest) }
        return try FileRequest(json)
    }

    private func refusal(_ text: String) -> ErrorCode? {
        errorCode { () throws(IoTError) in _ = try parse(text) }
    }

    @Test("A request is read as it was written")
    func roundTrip() throws {
        let times: Range<Int64> = 1_795_521_600_000_000..<1_795_521_660_000_000
        let wants: [RecordedFileWant] = [
            .recording(7), .clip(times, title: "front ü"), .clip(times, title: ""), .stream(times), .header(1 << 33),
            .ranges(times, isAscending: false, limit: 3_200, after: "17-4"),
            .ranges(times, isAscending: true, limit: 1, after: nil), .fragments(7, first: 12, count: 4),
        ]
        for want in wants {
            for request in [FileRequest(want), FileRequest(want, tag: "t", offset: 1 << 40, count: 1 << 20)] {
                #expect(try parse(String(buffer: request.bytes)) == request)
                #expect(request.bytes.readableBytes <= 1_024)
            }
        }
    }

    @Test("Wrong requests are refused")
    func wrong() {
        for text in ["5", "{}", #"{"recording":"1"}"#, #"{"header":{}}"#, #"{"fragments":{"recording":1,"first":0}}"#] {
            #expect(refusal(text) == .invalidRequest, "\(text)")
        }
        for text in [
            #"{"clip":{"from":5,"to":5}}"#, #"{"clip":{"from":-1,"to":5}}"#, #"{"stream":{"from":9,"to":5}}"#,
            #"{"clip":{"from":1,"to":5,"title":"TITLE"}}"#.replacing("TITLE", with: String(repeating: "x", count: 65)),
            #"{"ranges":{"from":1,"to":5,"limit":0}}"#, #"{"ranges":{"from":1,"to":5,"limit":3201}}"#,
            #"{"ranges":{"from":1,"to":5,"order":"up"}}"#, #"{"fragments":{"recording":1,"first":-1,"count":1}}"#,
        ] { #expect(refusal(text) == .invalidParameter, "\(text)") }
        #expect(refusal(#"{"recording":1,"offset":-1}"#) == .downloadOffsetInvalid)
        #expect(refusal(#"{"recording":1,"count":1048577}"#) == .downloadSizeInvalid)
    }

    @Test("A stream and a list of ranges are read as they were written")
    func answers() throws {
        let first = SegmentID(camera: camera, number: 4)
        var parts: [RecordedPart] = []
        for number in 0..<5 {
            parts.append(
                RecordedPart(
                    segment: SegmentID(camera: camera, number: UInt32(4 + number / 2)), first: number * 4, count: 4,
                    start: 1_795_521_600_000_001 + Int64(number) * 4_000_000, duration: 4_000_000,
                    startsWithKeyFrame: number != 3))
        }
        var stream = RecordedStream()
        stream.stretches = [.init(header: first, parts: parts), .init(header: first, parts: [parts[0]])]
        stream.isGrowing = true
        for stream in [stream, RecordedStream()] {
            let text = stream.json.jsonText
            #expect(try RecordedStream(try JSONValue(parsing: text)) == stream)
        }
        let page = RecordingPage(
            entries: [
                RecordedRange(
                    times: 5..<1_795_521_600_000_001, run: first, firstSegment: first, lastSegment: first,
                    reason: .event)
            ], next: "5-6")
        let ranges = RecordedRanges(page)
        #expect(try RecordedRanges(try JSONValue(parsing: ranges.json.jsonText)) == ranges)
        #expect(ranges.stretches.map(\.type) == ["event"] && ranges.next == "5-6")
    }

    @Test("Descriptions that no device of ours sends are refused")
    func hostile() throws {
        for text in [
            "5", "{}", #"{"stretches":[{}]}"#, #"{"stretches":[{"header":1,"recordings":[]}]}"#,
            Self.stream("1,1,1,1"), Self.stream("1,1,1,1,1,1"), Self.stream("-1,1,1,1,1"), Self.stream("1,0,1,1,1"),
            Self.stream("1,1,9223372036854775807,1,1"), Self.stream("1,1,1,9223372036854775807,1"), Self.stream(""),
        ] {
            #expect(throws: IoTError.self, "\(text)") { try RecordedStream(try JSONValue(parsing: text)) }
        }
        #expect(try RecordedStream(try JSONValue(parsing: Self.stream("1,1,1,1,1"))).parts.count == 1)
        for text in [
            "{}", "[1,2]", "[2,1,\"event\"]", "[1,9223372036854775807,\"event\"]", "[-1,1,\"event\"]", "[1,2,3]",
        ] {
            #expect(throws: IoTError.self, "\(text)") {
                try RecordedRanges(try JSONValue(parsing: #"{"ranges":\#(text)}"#))
            }
        }
    }

    private static func stream(_ numbers: String) -> String {
        #"{"stretches":[{"header":12884901892,"recordings":[{"id":12884901892,"parts":[\#(numbers)]}]}]}"#
    }
}
