package import IoTCore
import MediaCodec
package import NIOCore

/// One picture of a recording, as a JPEG.
package struct RecordedPicture: Sendable {
    package var bytes: ByteBuffer
    /// When it was captured, µs since 1970.
    package var time: Int64

    package init(bytes: ByteBuffer, time: Int64) {
        self.bytes = bytes
        self.time = time
    }
}

extension RecordingLibrary {
    /// The most segments in which a picture is searched: the newest ones can be without a picture, or just begun.
    private static let searched = 4

    /// Finds a picture. Blocks, as the functions below.
    ///
    /// - Returns: `nil` if nothing is recorded in the time of `first`.
    package func find(
        _ want: RecordedPictureWant, of camera: CameraNumber, _ bounds: PictureBounds?
    ) throws(IoTError) -> FoundPicture? {
        switch want {
        case .at(let time): return FoundPicture(picture: try picture(of: camera, at: time, bounds))
        case .first(let times, let every):
            return try firstPicture(of: camera, in: times, every: every, bounds).map {
                FoundPicture(part: $0.part, picture: $0.picture)
            }
        }
    }

    /// The key frame at a time, or the last one before it. Blocks: it reads about a second of a file, and decodes one
    /// picture, unless it is in the cache.
    ///
    /// - Parameters:
    ///   - time: µs since 1970.
    ///   - bounds: the largest size; `nil` for the picture's own.
    /// - Throws: `playbackListEmpty` if no picture was recorded before; as `open`; `mediaFailed`, `mediaHeaderInvalid` if
    ///   the file is damaged.
    package func picture(
        of camera: CameraNumber, at time: Int64, _ bounds: PictureBounds?
    ) throws(IoTError) -> RecordedPicture {
        if let picture = try picture(of: camera, at: time, since: Int64.min / 2, bounds) { return picture }
        throw IoTError(
            .playbackListEmpty, "no picture was recorded at this time or before it",
            remedy: "see `iotctl recording ranges NAME`")
    }

    /// The picture of the first part of a time in which something is recorded: the part's last key frame. Blocks.
    ///
    /// - Parameters:
    ///   - times: µs since 1970. Its parts begin with it.
    ///   - length: of each part, µs; the last one may be shorter.
    /// - Returns: the part, and its picture, if it has one; `nil` if nothing is recorded in this time.
    /// - Throws: as `picture(of:at:_:)`.
    package func firstPicture(
        of camera: CameraNumber, in times: Range<Int64>, every length: Int64, _ bounds: PictureBounds?
    ) throws(IoTError) -> (part: Range<Int64>, picture: RecordedPicture?)? {
        let query = RecordingQuery(camera: camera, times: times, limit: 1)
        guard !times.isEmpty, let first = try segments(query).entries.first else { return nil }
        let number = max(0, first.start - times.lowerBound) / length
        let begin = times.lowerBound + number * length
        let part = begin..<min(begin + length, times.upperBound)
        return (part, try picture(of: camera, at: part.upperBound - 1, since: begin, bounds))
    }

    /// - Parameter earliest: no picture before it is wanted, µs since 1970.
    private func picture(
        of camera: CameraNumber, at time: Int64, since earliest: Int64, _ bounds: PictureBounds?
    ) throws(IoTError) -> RecordedPicture? {
        let until = time.addingReportingOverflow(1)
        let end = max(until.overflow ? time : until.partialValue, 0)
        let page = try segments(
            RecordingQuery(
                camera: camera, times: min(earliest, end)..<end, order: .descending, limit: Self.searched))
        for record in page.entries {
            let recording: OpenRecording
            do throws(IoTError) {
                recording = try open(record.id)
            } catch {
                // Another reader's removal came first; what was before it may still be there.
                guard error.code == .downloadNotFound else { throw error }
                continue
            }
            let picture = try recording.picture(at: time, since: earliest, bounds, pictureCache)
            if let picture { return picture }
        }
        return nil
    }
}

extension OpenRecording {
    /// More in an index is damage: a fragment of a second is smaller.
    private static let longestFragment: Int64 = 256 << 20

    /// `nil` if it has no picture at this time or before it, but not before `earliest`.
    fileprivate func picture(
        at time: Int64, since earliest: Int64, _ bounds: PictureBounds?, _ cache: PictureCache
    ) throws(IoTError) -> RecordedPicture? {
        guard let place = list.fragment(at: time), let start = list.keyFragment(atOrBefore: place.number) else {
            return nil
        }
        let facts = list.fragments[start.number]
        guard facts.wallStart <= time, facts.byteCount <= Self.longestFragment else { return nil }
        let key = PictureCache.Key(
            segment: record.id, offset: start.offset, wallStart: facts.wallStart, bounds: bounds)
        if let known = cache.picture(key, at: time) { return known.time < earliest ? nil : known }
        let contents = try contents()
        guard let video = contents.tracks.video else { return nil }
        let entry = FragmentEntry(
            offset: start.offset, byteCount: Int(facts.byteCount), mediaStart: facts.mediaStart,
            mediaDuration: facts.mediaDuration, wallClock: facts.wallStart, startsWithKeyFrame: true)
        let bytes = try read(at: entry.offset, count: entry.byteCount)
        let keys = try contents.samples(of: entry, bytes).filter { $0.kind == .video && $0.isKey }
        func captured(_ sample: RecordedSample) -> Int64 {
            sample.pts.addingReportingOverflow(facts.wallStart &- facts.mediaStart).partialValue
        }
        guard let sample = keys.last(where: { captured($0) <= time }) ?? keys.first else { throw Self.damaged }
        if captured(sample) < earliest { return nil }
        guard
            let body = bytes.getSlice(
                at: bytes.readerIndex + Int(sample.offset - entry.offset), length: sample.byteCount)
        else { throw Self.damaged }
        let decoder = try VideoDecoder(video, threads: 1)
        let decoded = try decoder.decode(contents.frame(sample, body)) + decoder.flush()
        guard let picture = try decoded.first?.rotated(video.rotation) else { throw Self.damaged }
        let size = bounds?.fit(width: picture.width, height: picture.height)
        let made = RecordedPicture(bytes: try PictureEncoder.jpeg(picture, size: size), time: captured(sample))
        let next = keys.first { captured($0) > made.time }.map(captured)
        cache.store(PictureCache.Entry(picture: made, end: next ?? .max), key)
        return made
    }

    private func contents() throws(IoTError) -> SegmentContents {
        var scan = SegmentScan(fileSize: size)
        while scan.header == nil, let wanted = scan.wanted {
            scan.supply(try read(at: wanted.lowerBound, count: wanted.count))
        }
        guard let contents = scan.header else {
            throw IoTError(.mediaHeaderInvalid, "not a recording: its header is missing or damaged")
        }
        return contents
    }

    private static var damaged: IoTError {
        IoTError(.mediaFailed, "the recording is damaged", remedy: "check the disk's recordings")
    }
}
