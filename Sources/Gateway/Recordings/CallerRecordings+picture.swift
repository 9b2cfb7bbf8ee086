import GatewayAPI
import IoTCore
import NIOCore
import RecordingStore

import struct Foundation.Data

extension CallerRecordings {
    func picture(_ device: String, at time: Int64, _ bounds: PictureBounds?) async throws -> Picture {
        let part = try session.take(.snapshots)
        defer { withExtendedLifetime(part) {} }
        // The whole millisecond, so that the times of lists find their own picture.
        let end = time.multipliedReportingOverflow(by: 1_000)
        let wanted = end.overflow ? .max : end.partialValue + 999
        let picture = try await find(.at(wanted), in: try await place(device), bounds)?.picture
        guard let picture else { throw Self.nothing }
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
        let place = try await place(device)
        let deadline = ContinuousClock.now + Self.longestWork
        var from = times.lowerBound
        var size = 0
        while from < times.upperBound {
            let rest = (from..<times.upperBound).microseconds
            // One at a time, so that other requests get their turns on the threads.
            guard let found = try await find(.first(in: rest, every: length * 1_000), in: place, bounds),
                let part = found.part
            else { return answer }
            if let picture = found.picture {
                answer.thumbnails.append(
                    RecordingThumbnail(
                        from: part.lowerBound / 1_000, time: picture.time / 1_000,
                        jpeg: Data(picture.bytes.readableBytesView)))
                size += picture.bytes.readableBytes
            }
            from = max(from + 1, part.upperBound / 1_000)
            if answer.thumbnails.count >= Self.mostPictures || size >= Self.mostBytes || .now >= deadline { break }
        }
        if from < times.upperBound { answer.next = from }
        return answer
    }

    private func find(
        _ want: RecordedPictureWant, in place: Place, _ bounds: PictureBounds?
    ) async throws -> FoundPicture? {
        switch place {
        case .nowhere: return nil
        case .elsewhere(let other): return try await other.picture(want, bounds)
        case .here(let camera, let access):
            let library = access.library
            return try await access.threads.run { () throws(IoTError) in
                try library.find(want, of: camera, bounds)
            }
        }
    }

    static var nothing: IoTError {
        IoTError(.playbackListEmpty, "nothing was recorded", remedy: "see `iotctl recording ranges NAME`")
    }
}
