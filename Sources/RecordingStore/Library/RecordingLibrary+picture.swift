package import IoTCore
import MediaCodec
package import NIOCore

/// One picture of a recording, as a JPEG.
package struct RecordedPicture: Sendable {
    package var bytes: ByteBuffer
    /// When it was captured, µs since 1970.
    package var time: Int64
}

extension RecordingLibrary {
    /// The most segments in which a picture is searched: the newest ones can be without a picture, or just begun.
    private static let searched = 4

    /// The key frame at a time, or the last one before it. Blocks: it reads about a second of a file, and decodes one
    /// picture.
    ///
    /// - Parameters:
    ///   - time: µs since 1970.
    ///   - bounds: the largest size; `nil` for the picture's own.
    /// - Throws: `playbackListEmpty` if no picture was recorded before; as `open`; `mediaFailed`, `mediaHeaderInvalid` if
    ///   the file is damaged.
    package func picture(
        of camera: CameraNumber, at time: Int64, _ bounds: PictureBounds?
    ) throws(IoTError) -> RecordedPicture {
        let until = time.addingReportingOverflow(1)
        let page = try segments(
            RecordingQuery(
                camera: camera, times: Int64.min / 2..<max(until.overflow ? time : until.partialValue, 0),
                order: .descending, limit: Self.searched))
        for record in page.entries {
            let recording: OpenRecording
            do throws(IoTError) {
                recording = try open(record.id)
            } catch {
                // Another reader's removal came first; what was before it may still be there.
                guard error.code == .downloadNotFound else { throw error }
                continue
            }
            if let picture = try recording.picture(at: time, bounds) { return picture }
        }
        throw IoTError(
            .playbackListEmpty, "no picture was recorded at this time or before it", remedy: "list what was recorded")
    }
}

extension OpenRecording {
    /// More in an index is damage: a fragment of a second is smaller.
    private static let longestFragment: Int64 = 256 << 20

    /// `nil` if it has no picture at this time or before it.
    fileprivate func picture(at time: Int64, _ bounds: PictureBounds?) throws(IoTError) -> RecordedPicture? {
        guard let place = list.fragment(at: time), let start = list.keyFragment(atOrBefore: place.number) else {
            return nil
        }
        let facts = list.fragments[start.number]
        guard facts.wallStart <= time, facts.byteCount <= Self.longestFragment else { return nil }
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
        guard let sample = keys.last(where: { captured($0) <= time }) ?? keys.first,
            let body = bytes.getSlice(
                at: bytes.readerIndex + Int(sample.offset - entry.offset), length: sample.byteCount)
        else { throw Self.damaged }
        let decoder = try VideoDecoder(video, threads: 1)
        let decoded = try decoder.decode(contents.frame(sample, body)) + decoder.flush()
        guard let picture = try decoded.first?.rotated(video.rotation) else { throw Self.damaged }
        let size = bounds?.fit(width: picture.width, height: picture.height)
        return RecordedPicture(bytes: try PictureEncoder.jpeg(picture, size: size), time: captured(sample))
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
