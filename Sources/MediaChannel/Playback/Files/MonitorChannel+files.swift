public import IoTCore
public import NIOCore
package import RecordingStore

extension MonitorChannel {
    /// A part of a recording's file.
    public struct FilePart: Sendable {
        /// Of the whole file; of a growing one, what is written so far.
        public var size: Int64
        /// Two files with the same tag have the same bytes.
        public var tag: String
        public var bytes: ByteBuffer
    }

    /// The most bytes that one call of `readRecording` returns.
    public static let largestFilePart = FileServer.mostBytes
    /// Several days of parts.
    private static let largestJSON: Int64 = 8 << 20
    /// How long a part may take.
    private static let filePatience = TimeAmount.seconds(30)

    /// Reads a part of a recording's file from a playback channel's device. One call at a time is answered; others wait.
    ///
    /// - Parameters:
    ///   - recording: `RecordedItem.id`.
    ///   - tag: the file must still have this tag.
    ///   - count: 0 to `largestFilePart`; fewer bytes come at the file's end.
    /// - Throws: 21040 on channels of other kinds, 21061 for another tag, 21062 beyond the file's end, 21064 for an
    ///   unknown recording, 21039 without the disk, 21002 without an answer.
    public func readRecording(
        _ recording: Int64, tag: String? = nil, at offset: Int64, count: Int
    ) async throws(IoTError) -> FilePart {
        try await readFile(.recording(recording), tag: tag, at: offset, count: count)
    }

    /// As `readRecording`.
    package func readFile(
        _ want: RecordedFileWant, tag: String? = nil, at offset: Int64, count: Int
    ) async throws(IoTError) -> FilePart {
        let reader = try await askFile(FileRequest(want, tag: tag, offset: offset, count: count).bytes)
        guard case .element(let head) = try await reader.next(within: nil) else { throw Self.incomplete }
        let facts = try FileHead(parsing: head)
        var part = FilePart(size: facts.size, tag: facts.tag, bytes: ByteBuffer())
        while case .element(var bytes) = try await reader.next(within: nil) {
            guard part.bytes.readableBytes + bytes.readableBytes <= count else { throw Self.incomplete }
            part.bytes.writeBuffer(&bytes)
        }
        guard part.bytes.readableBytes == min(Int64(count), max(0, facts.size - offset)) else { throw Self.incomplete }
        return part
    }

    /// A whole file that fits in memory.
    ///
    /// - Throws: as `readRecording`; `peerFailed` if it has more bytes.
    private func readWhole(_ want: RecordedFileWant, atMost limit: Int64) async throws(IoTError) -> ByteBuffer {
        var part = try await readFile(want, at: 0, count: Self.largestFilePart)
        guard part.size <= limit else {
            throw IoTError(.peerFailed, "the device answers with \(part.size) bytes where at most \(limit) are allowed")
        }
        var bytes = part.bytes
        while Int64(bytes.readableBytes) < part.size {
            part = try await readFile(
                want, tag: part.tag, at: Int64(bytes.readableBytes), count: Self.largestFilePart)
            guard bytes.writeBuffer(&part.bytes) > 0 else { throw Self.incomplete }
        }
        return bytes
    }

    /// The device's recordings for players that fetch parts. Times are µs since 1970.
    package func recordedStream(in times: Range<Int64>) async throws(IoTError) -> RecordedStream {
        try RecordedStream(try await readJSON(.stream(times)))
    }

    /// A page of the stretches without a gap. Times are µs since 1970.
    ///
    /// - Throws: as `readRecording`; 21011 for a wrong cursor.
    package func recordedRanges(
        in times: Range<Int64>, isAscending: Bool, limit: Int, after: String?
    ) async throws(IoTError) -> RecordedRanges {
        try RecordedRanges(
            try await readJSON(.ranges(times, isAscending: isAscending, limit: limit, after: after)))
    }

    private func readJSON(_ want: RecordedFileWant) async throws(IoTError) -> JSONValue {
        let bytes = try await readWhole(want, atMost: Self.largestJSON)
        do {
            return try JSONValue(parsing: Array(bytes.readableBytesView))
        } catch {
            throw IoTError(.peerFailed, "the device's answer is not JSON")
        }
    }

    /// A picture of the device's recordings, as a JPEG.
    ///
    /// - Returns: `nil` if nothing is recorded in the time of `first`.
    /// - Throws: as `readRecording`; 21032 without a picture for `at`.
    package func recordedPicture(
        _ want: RecordedPictureWant, _ bounds: PictureBounds?
    ) async throws(IoTError) -> FoundPicture? {
        let reader = try await askFile(PictureRequest(want, bounds).bytes)
        guard case .element(let bytes) = try await reader.next(within: nil) else { throw Self.incomplete }
        let head = try PictureHead(parsing: bytes)
        var picture = ByteBuffer()
        while case .element(var bytes) = try await reader.next(within: nil) {
            guard picture.readableBytes + bytes.readableBytes <= head.size else { throw Self.incomplete }
            picture.writeBuffer(&bytes)
        }
        guard picture.readableBytes == head.size else { throw Self.incomplete }
        if head.time == nil, head.part == nil { return nil }
        return FoundPicture(part: head.part, picture: head.time.map { RecordedPicture(bytes: picture, time: $0) })
    }

    private func askFile(_ request: ByteBuffer) async throws(IoTError) -> DataReader<ByteBuffer> {
        try await onCore { core throws(IoTError) in
            DataReader(try core.askFile(request, timeout: Self.filePatience), on: core.eventLoop)
        }
    }

    private static var incomplete: IoTError {
        IoTError(.downloadEnded, "the device did not send what it was asked for", remedy: "try again")
    }
}
