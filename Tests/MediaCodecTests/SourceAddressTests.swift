import IoTCore
import Logging
import NIOCore
import Synchronization
import Testing

@testable import MediaCodec

@Suite("Source addresses and libav's log")
struct SourceAddressTests {
    @Test("Paths, file URLs and RTSP URLs are accepted, other schemes are not")
    func parse() throws {
        #expect(try SourceAddress("/a/b.mp4") == .file(path: "/a/b.mp4"))
        #expect(try SourceAddress("concat:a|b") == .file(path: "concat:a|b"))
        #expect(try SourceAddress("file:///a%20b.mp4") == .file(path: "/a b.mp4"))
        #expect(try SourceAddress("file://localhost/a.mp4") == .file(path: "/a.mp4"))
        #expect(try SourceAddress("file://LOCALhost/a.mp4") == .file(path: "/a.mp4"))
        #expect(try SourceAddress("RTSP://h/x") == .rtsp(url: "RTSP://h/x"))
        for text in ["http://h/x", "rtsps://h/x", "file://host/a", "file:///a%2", "file:///%00", "exec://x", ""] {
            let error = #expect(throws: IoTError.self) { _ = try SourceAddress(text) }
            #expect(error?.code == .sourceUnsupported, "\(text)")
        }
    }

    @Test("The host is parsed from URLs with user, port and path")
    func host() throws {
        for (url, host) in [
            ("rtsp://h/x", "h"), ("rtsp://h:554/x", "h"), ("RTSP://u:p@h:554", "h"), ("rtsp://u:p@q@h/x@y", "h"),
            ("rtsp://[2001:db8::7]:554/x", "2001:db8::7"), ("rtsp://u@[::1]", "::1"), ("rtsp://h?a@b:c", "h"),
        ] {
            #expect(try SourceAddress(url).host == host, "\(url)")
        }
        #expect(try SourceAddress("/a@b.mp4").host == nil)
    }

    @Test("User names and passwords are never shown")
    func redaction() throws {
        #expect(try SourceAddress("rtsp://u:p@h:554/x?a@b").redacted == "rtsp://***@h:554/x?a@b")
        #expect(SourceAddress.redact("rtsp://u:p@q@h/x") == "rtsp://***@h/x")
        #expect(SourceAddress.redact("a rtsp://u:p@h b rtsp://v@i/") == "a rtsp://***@h b rtsp://***@i/")
        #expect(SourceAddress.redact("no address: a@b") == "no address: a@b")
    }

    @Test("libav's log is limited to ten lines in ten seconds, with the number of suppressed lines")
    func logLimit() {
        let lines = Mutex<[String]>([])
        let recorder = RecordingHandler { text in lines.withLock { $0.append(text) } }
        var sink = LogSink(logger: Logger(label: "test") { _ in recorder })
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        for index in 0..<25 where sink.admits(at: start + .milliseconds(Int64(index))) { sink.write("x\n") }
        #expect(lines.withLock { $0.count } == 10)
        if sink.admits(at: start + .seconds(11)) { sink.write("at rtsp://u:secret@h/") }
        #expect(lines.withLock { $0.last } == "at rtsp://***@h/ 15")
    }
}

private struct RecordingHandler: LogHandler {
    let record: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ record: @escaping @Sendable (String) -> Void) {
        self.record = record
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = event.metadata ?? [:]
        record("\(metadata["libav.message"] ?? "") \(metadata["libav.suppressed"] ?? "")")
    }
}
