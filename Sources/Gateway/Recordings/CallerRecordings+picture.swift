import GatewayAPI
import IoTCore
import NIOCore
import RecordingStore

import struct Foundation.Data

extension CallerRecordings {
    func picture(_ device: String, at time: Int64, _ bounds: PictureBounds?) async throws -> Picture {
        let part = try session.take(.snapshots)
        defer { withExtendedLifetime(part) {} }
        guard let (camera, access) = try await recorded(device) else { throw Self.nothing }
        let library = access.library
        let picture = try await access.threads.run { () throws(IoTError) in
            // The whole millisecond, so that the times of lists find their own picture.
            let end = time.multipliedReportingOverflow(by: 1_000)
            return try library.picture(of: camera, at: end.overflow ? .max : end.partialValue + 999, bounds)
        }
        return Picture(format: .jpeg, pts: picture.time, bytes: picture.bytes)
    }

    /// The limits of one answer.
    private static let mostPictures = 200
    private static let mostBytes = 8 << 20
    private static let longestWork = Duration.seconds(5)

    func pictures(
        _ device: String, in times: Range<Int64>, every length: Int64, _ bounds: PictureBounds?
    ) async throws -> RecordingThumbnails {
        let share = try session.take(.snapshots)
        defer { withExtendedLifetime(share) {} }
        var answer = RecordingThumbnails(thumbnails: [])
        guard let (camera, access) = try await recorded(device) else { return answer }
        let library = access.library
        let deadline = ContinuousClock.now + Self.longestWork
        var from = times.lowerBound
        var size = 0
        while from < times.upperBound {
            let rest = (from..<times.upperBound).microseconds
            // One at a time, so that other requests get their turns on the threads.
            let found = try await access.threads.run { () throws(IoTError) in
                try library.firstPicture(of: camera, in: rest, every: length * 1_000, bounds)
            }
            guard let found else { return answer }
            if let picture = found.picture {
                answer.thumbnails.append(
                    RecordingThumbnail(
                        from: found.part.lowerBound / 1_000, time: picture.time / 1_000,
                        jpeg: Data(picture.bytes.readableBytesView)))
                size += picture.bytes.readableBytes
            }
            from = found.part.upperBound / 1_000
            if answer.thumbnails.count >= Self.mostPictures || size >= Self.mostBytes || .now >= deadline { break }
        }
        if from < times.upperBound { answer.next = from }
        return answer
    }

    static var nothing: IoTError {
        IoTError(.playbackListEmpty, "nothing was recorded", remedy: "list what was recorded")
    }
}
