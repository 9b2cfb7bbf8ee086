import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

/// The worked example of docs/recording.md: two pictures a second of 64×48, three frames of AAC, two fragments.
enum SegmentExample {
    private static let sets: [[UInt8]] = [
        [
            0x67, 0x42, 0xC0, 0x0A, 0xD9, 0x04, 0x7B, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x00,
            0x40, 0xF1, 0x22, 0x64, 0x80,
        ], [0x68, 0xCB, 0x83, 0xCB, 0x20],
    ]
    static let tracks = SegmentTracks(
        video: VideoParameters(codec: .h264, parameterSets: sets),
        audio: AudioParameters(codec: .aac, sampleRate: 8_000, channels: 1, audioSpecificConfig: [0x15, 0x88]))
    /// 10 s on the camera's clock; 2026-11-24 12:00:00 UTC.
    static let start: Int64 = 10_000_000
    static let wall: Int64 = 1_795_521_600_000_000

    struct Made {
        var header: ByteBuffer
        var fragments: [Fragment] = []
        var closing: SegmentClosing
    }

    static func make() throws -> Made {
        var writer = try SegmentWriter(
            tracks: tracks, start: start, created: wall, title: "yard", identity: Array("example".utf8))
        var fragments: [Fragment] = []
        func take(_ kind: MediaKind, _ time: Int64, isKey: Bool, _ bytes: [UInt8]) throws {
            let frame = MediaFrame(
                kind: kind, isKeyFrame: isKey, pts: start + time, dts: start + time, bytes: ByteBuffer(bytes: bytes))
            if let fragment = try writer.append(frame, wallClock: wall + time) { fragments.append(fragment) }
        }
        func picture(_ time: Int64, isKey: Bool) throws {
            let slice: [UInt8] = [0, 0, 0, 3, isKey ? 0x65 : 0x41, 0x9A, UInt8(time / 500_000)]
            var prefix: [UInt8] = []
            for set in isKey ? sets : [] { prefix += [0, 0, 0, UInt8(set.count)] + set }
            try take(.video, time, isKey: isKey, prefix + slice)
        }
        try picture(0, isKey: true)
        try take(.audio, 40_000, isKey: true, [0xA0, 1])
        try take(.audio, 168_000, isKey: true, [0xA1, 2, 3])
        try picture(500_000, isKey: false)
        try picture(1_000_000, isKey: true)
        try take(.audio, 1_064_000, isKey: true, [0xA2, 4])
        try picture(1_500_000, isKey: false)
        if let last = writer.flush() { fragments.append(last) }
        let header = writer.header
        return Made(header: header, fragments: fragments, closing: writer.close())
    }

    static func growing(_ made: Made) -> ByteBuffer {
        var bytes = made.header
        for part in made.fragments.flatMap(\.bytes) { bytes.writeImmutableBuffer(part) }
        return bytes
    }

    static func closed(_ made: Made) -> ByteBuffer {
        var bytes = growing(made)
        bytes.writeImmutableBuffer(made.closing.movie)
        bytes.setBuffer(made.closing.head, at: Int(made.closing.headOffset))
        return bytes
    }
}

@Suite("The format of a recording")
struct SegmentFormatTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../docs/recording.md").standardizedFileURL

    /// Boxes whose contents are boxes.
    private static let containers: Set<BoxType> = [
        "moov", "trak", "edts", "mdia", "minf", "dinf", "stbl", "mvex", "udta", "moof", "traf",
    ]

    @Test("docs/recording.md has the bytes of the worked example; WRITE_DOCUMENTS=1 rewrites them")
    func example() throws {
        let made = try SegmentExample.make()
        let growing = SegmentExample.growing(made)
        let parts: [(String, [String])] = [
            ("growing", Self.list(growing, "", 0)),
            ("closing", Self.list(made.closing.movie, "", growing.readableBytes)),
        ]
        var text = try String(contentsOf: Self.page, encoding: .utf8)
        let original = text
        for (name, lines) in parts {
            let begin = try #require(text.range(of: "<!-- example: \(name) -->\n"))
            let end = try #require(text.range(of: "<!-- end -->", range: begin.upperBound..<text.endIndex))
            let block = "```\n" + lines.joined(separator: "\n") + "\n```\n"
            text.replaceSubrange(begin.upperBound..<end.lowerBound, with: block)
        }
        if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] == "1" {
            try text.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            #expect(text == original, "write it: WRITE_DOCUMENTS=1 swift test --filter SegmentFormatTests")
        }
        let head = Self.hexadecimal(made.closing.head).trimmingCharacters(in: .whitespaces)
        #expect(original.contains("`\(head)`"), "the head of the closed file's mdat is \(head)")
    }

    @Test("The worked example is read back")
    func reading() throws {
        let made = try SegmentExample.make()
        let file = SegmentExample.closed(made)
        let contents = try RecordedSegment.scan(file, size: file.readableBytes).contents
        #expect(contents.state == .closed && contents.fragments.count == 2)
        #expect(contents.fragments.map(\.mediaStart) == [10_000_000, 11_000_000])
        #expect(contents.fragments.map(\.wallClock) == [SegmentExample.wall, SegmentExample.wall + 1_000_000])
        let samples = try contents.fragments.flatMap { fragment in
            let bytes = try #require(file.getSlice(at: Int(fragment.offset), length: fragment.byteCount))
            return try contents.samples(of: fragment, bytes)
        }
        #expect(samples.filter { $0.kind == .audio }.map(\.pts) == [10_040_000, 10_168_000, 11_064_000])
        #expect(samples.filter { $0.kind == .video }.map(\.isKey) == [true, false, true, false])
    }

    private static func list(_ bytes: ByteBuffer, _ indent: String, _ offset: Int) -> [String] {
        var lines: [String] = []
        var (rest, offset) = (bytes, offset)
        while let (type, body) = rest.readBox() {
            let name = name(of: type)
            let place = String(format: "%5d", offset)
            let start = "\(place) \(indent)\(name) \(body.readableBytes + 8)"
            if containers.contains(type) {
                lines.append(start)
                lines += list(body, indent + "  ", offset + 8)
            } else {
                lines.append(start + ":" + hexadecimal(body))
            }
            offset += body.readableBytes + 8
        }
        return lines
    }

    private static func name(of type: BoxType) -> String {
        var name = ""
        for shift: UInt32 in [24, 16, 8, 0] {
            let byte = UInt8(truncatingIfNeeded: type.rawValue >> shift)
            name.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return name
    }

    /// In groups of four bytes; of a long box, the beginning.
    private static func hexadecimal(_ body: ByteBuffer) -> String {
        var text = ""
        for (index, byte) in body.readableBytesView.prefix(48).enumerated() {
            if index % 4 == 0 { text += " " }
            text += String(format: "%02x", byte)
        }
        return body.readableBytes > 48 ? text + " …" : text
    }
}
