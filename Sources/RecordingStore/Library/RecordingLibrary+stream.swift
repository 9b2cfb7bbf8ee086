package import IoTCore
import MediaCodec
package import NIOCore

/// Recordings for players that fetch parts. All calls block.
extension RecordingLibrary {
    /// A day of segments of a minute, and more.
    private static let mostSegments = 3_200

    /// The recordings of a time, of at most `RecordedStream.longest`.
    ///
    /// - Parameter times: µs since 1970.
    /// - Throws: `storeFailed`.
    package func stream(of camera: CameraNumber, in times: Range<Int64>) throws(IoTError) -> RecordedStream {
        let end = times.lowerBound.addingReportingOverflow(RecordedStream.longest)
        let times = times.lowerBound..<min(times.upperBound, end.overflow ? .max : end.partialValue)
        let page = try segments(RecordingQuery(camera: camera, times: times, limit: Self.mostSegments))
        var stream = RecordedStream()
        var last: (run: SegmentID, tracks: Int64)?
        let complete = try streamCache.parts(of: page.entries, in: index)
        for listed in page.entries {
            var record = listed
            var entry = complete[listed.id]
            if entry == nil {
                // It grows, or was removed in the meantime.
                guard let (current, list) = try segment(listed.id),
                    let tracks = try index.contents(of: [listed.id])[listed.id]?.tracks
                else { continue }
                record = current
                let parts = RecordedPart.parts(of: listed.id, list, isGrowing: record.state == .open)
                entry = StreamCache.Entry(start: record.start, parts: parts, tracks: tracks)
            }
            guard let entry else { continue }
            let isNew = last.map { $0.run != record.run || $0.tracks != entry.tracks } ?? true
            last = (record.run, entry.tracks)
            stream.append(record, entry.parts, in: times, isNew: isNew)
        }
        return stream
    }

    /// The header of a segment, as it is while the segment grows.
    ///
    /// - Throws: as `open`.
    package func header(of id: SegmentID) throws(IoTError) -> ByteBuffer {
        try open(id).header()
    }

    /// Opens fragments of a segment, on a time line that all segments of its run share.
    ///
    /// - Throws: as `open`; `downloadNotFound` if the segment does not have them; `mediaHeaderInvalid` if it is damaged.
    package func fragments(of id: SegmentID, first: Int, count: Int) throws(IoTError) -> OpenFragments {
        let recording = try open(id)
        let fragments = recording.list.fragments
        guard first >= 0, count > 0, first <= fragments.count - count, let start = fragments.first?.mediaStart else {
            throw IoTError(.downloadNotFound, "the recording \(id) does not have these fragments")
        }
        let offset = recording.list.headerSize + fragments.prefix(first).reduce(0) { $0 + $1.byteCount }
        return OpenFragments(
            recording, first: first, at: offset, sizes: fragments[first..<first + count].map(\.byteCount),
            shift: try FragmentShift(header: try recording.header(), by: start))
    }
}

extension OpenRecording {
    /// With the placeholder, also of a closed file.
    func header() throws(IoTError) -> ByteBuffer {
        var bytes = try read(at: 0, count: Int(list.headerSize))
        SegmentPlaceholder.restore(in: &bytes, at: 0)
        return bytes
    }
}
