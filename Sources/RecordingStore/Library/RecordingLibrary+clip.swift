import Foundation
package import IoTCore
import MediaCodec
import NIOCore

/// A time of a camera's recordings as one file. All calls block.
extension RecordingLibrary {
    /// The longest clip, µs.
    package static let longestClip: Int64 = 2 * 3_600 * 1_000_000
    private static let mostSegments = 1_000

    /// Opens the recordings of a time as one MP4: from the picture at its begin to that at its end, without the gaps.
    ///
    /// - Parameter times: µs since 1970.
    /// - Throws: `playbackListEmpty` if nothing was recorded; `valueInvalid` if it is too long; `videoSizeChanged` if the
    ///   camera's picture or sound changed its form meanwhile; as `open`.
    package func clip(of camera: CameraNumber, in times: Range<Int64>, title: String) throws(IoTError) -> OpenClip {
        let length = times.upperBound.subtractingReportingOverflow(times.lowerBound)
        guard !length.overflow, length.partialValue <= Self.longestClip else {
            throw IoTError(.valueInvalid, "a clip has at most two hours", remedy: "export it in parts")
        }
        let page = try segments(RecordingQuery(camera: camera, times: times, limit: Self.mostSegments))
        guard page.next == nil else {
            throw IoTError(.valueInvalid, "this time has too many recordings", remedy: "export it in parts")
        }
        let lease = ClipLease(leases)
        var clip: (writer: ClipWriter, entries: [UInt8])?
        var window: (start: Int64, end: Int64) = (0, 0)
        var sources: [SegmentID] = []
        for (number, listed) in page.entries.enumerated() {
            guard try index.isVisible(listed.id), lease.take(listed.id) else { continue }
            let recording = try open(listed.id)
            let contents = try SegmentContents(header: try recording.header())
            sources.append(listed.id)
            let entries = contents.tracks.sampleEntries
            let run = page.entries.firstIndex { $0.run == listed.run } ?? number
            let start = recording.start(for: times.lowerBound)
            for fragment in recording.placed where fragment.facts.wallStart < times.upperBound {
                let wall = fragment.facts.wallStart
                if clip == nil {
                    guard fragment.entry.offset == start else { continue }
                    clip = (
                        ClipWriter(tracks: contents.tracks, title: title, created: max(wall, times.lowerBound)),
                        entries
                    )
                }
                guard entries == clip?.entries else {
                    let time = Date(timeIntervalSince1970: Double(wall / 1_000_000)).ISO8601Format()
                    throw IoTError(
                        .videoSizeChanged, "the camera's picture or sound changed its form at \(time)",
                        remedy: "export until \(time), and from then on")
                }
                let samples = try contents.samples(of: fragment.entry) { offset, count throws(IoTError) in
                    try recording.read(at: offset, count: count)
                }
                guard let place = try clip?.writer.append(samples, segment: sources.count - 1, run: run) else {
                    continue
                }
                if wall < times.lowerBound { window.start = place + times.lowerBound - wall }
                window.end = place + times.upperBound - wall
            }
        }
        guard let clip, !clip.writer.isEmpty else {
            throw IoTError(
                .playbackListEmpty, "nothing was recorded in this time", remedy: "see `iotctl recording ranges NAME`")
        }
        let end = min(window.end, clip.writer.duration)
        return OpenClip(
            head: clip.writer.head(showing: min(window.start, end)..<end), pieces: clip.writer.pieces,
            segments: sources,
            lease: lease, name: "\(times.lowerBound)-\(times.upperBound)"
        ) { id throws(IoTError) in try self.open(id) }
    }
}

extension OpenRecording {
    /// The fragments with their places in the file.
    fileprivate var placed: [(facts: FragmentFacts, entry: FragmentEntry)] {
        var offset = list.headerSize
        return list.fragments.map { facts in
            defer { offset += facts.byteCount }
            return (
                facts,
                FragmentEntry(
                    offset: offset, byteCount: Int(facts.byteCount), mediaStart: facts.mediaStart,
                    mediaDuration: facts.mediaDuration, wallClock: facts.wallStart,
                    startsWithKeyFrame: facts.startsWithKeyFrame)
            )
        }
    }

    /// The place of the fragment at which decoding begins for a time: the last one with a key frame at its beginning that
    /// is not later, or the first one.
    fileprivate func start(for time: Int64) -> Int64? {
        let keys = placed.filter(\.facts.startsWithKeyFrame)
        return (keys.last { $0.facts.wallStart <= time } ?? keys.first)?.entry.offset
    }
}
