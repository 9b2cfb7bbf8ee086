import GatewayAPI
import IoTCore
import NIOCore
import RecordingStore

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

    static var nothing: IoTError {
        IoTError(.playbackListEmpty, "nothing was recorded", remedy: "list what was recorded")
    }
}
