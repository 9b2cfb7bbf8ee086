import Hummingbird
import Testing

@testable import iotvideod

@Suite struct RecordedFileTests {
    private static let path = "/v1/devices/d/recordings/1/video.mp4"

    @Test(
        "A range of bytes, by each form of the header",
        arguments: [
            ("bytes=0-9", RequestedRange.part(0..<10)), ("bytes=990-2000", .part(990..<1_000)),
            ("bytes=7-", .part(7..<1_000)),
            ("bytes=-10", .part(990..<1_000)), ("bytes=-5000", .part(0..<1_000)), ("bytes=999-999", .part(999..<1_000)),
            ("BYTES= 1 - 2", .part(1..<3)), ("bytes=0-99999999999999999999", .part(0..<1_000)),
            ("bytes=1000-", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable),
            // What is not understood is left out of account (RFC 9110 §14.2).
            ("bytes=9-1", .whole), ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=1-2,5-6", .whole),
            ("lines=1-2", .whole), ("bytes", .whole), ("", .whole), ("bytes=1--2", .whole),
        ])
    func ranges(text: String, wanted: RequestedRange) {
        #expect(RequestedRange(text, if: nil, size: 1_000, tag: "\"t\"") == wanted)
    }

    @Test("A condition that does not hold makes the range void, and an empty file has no range")
    func conditions() {
        #expect(RequestedRange("bytes=0-9", if: "\"t\"", size: 1_000, tag: "\"t\"") == .part(0..<10))
        for other in ["\"u\"", "t", "W/\"t\"", "Tue, 24 Nov 2026 21:00:00 GMT"] {
            #expect(RequestedRange("bytes=0-9", if: other, size: 1_000, tag: "\"t\"") == .whole, "\(other)")
        }
        #expect(RequestedRange("bytes=0-9", if: nil, size: 0, tag: "\"t\"") == .unsatisfiable)
        #expect(RequestedRange("bytes=-9", if: nil, size: 0, tag: "\"t\"") == .unsatisfiable)
        #expect(RequestedRange(nil, if: nil, size: 0, tag: "\"t\"") == .whole)
    }

    @Test("The whole file, a part, a copy that is current, and a part that does not exist")
    func responses() async throws {
        let fixture = RouterFixture()
        func ask(_ headers: [String: String]) async throws -> RouterFixture.Answer {
            let headers = headers.merging(["Host": "127.0.0.1"]) { first, _ in first }
            return try await fixture.ask("GET", Self.path, token: RouterFixture.administrator, headers: headers)
        }
        let text = ScriptedRecordings.text
        let whole = try await ask([:])
        #expect(whole.status == 200 && whole.body == text)
        #expect(whole.headers[.contentLength] == "1000" && whole.headers[.eTag] == "\"1-2\"")
        #expect(whole.headers[.acceptRanges] == "bytes" && whole.headers[.contentType] == "video/mp4")
        #expect(whole.headers[.contentDisposition] == "inline; filename=\"fr_ont-1.mp4\"")

        let part = try await ask(["Range": "bytes=100-699", "If-Range": "\"1-2\""])
        #expect(part.status == 206 && part.body == text.dropFirst(100).prefix(600))
        #expect(part.headers[.contentRange] == "bytes 100-699/1000" && part.headers[.contentLength] == "600")

        let changed = try await ask(["Range": "bytes=100-699", "If-Range": "\"1-1\""])
        #expect(changed.status == 200 && changed.body == text)

        let current = try await ask(["If-None-Match": "\"0\", W/\"1-2\""])
        #expect(current.status == 304 && current.body.isEmpty)

        let beyond = try await ask(["Range": "bytes=1000-"])
        #expect(beyond.status == 416 && beyond.headers[.contentRange] == "bytes */1000")
    }
}
