import MediaChannel
import PeerTransport
import ServiceLifecycle

/// A camera and the UDP socket for its viewers, which is closed when the camera ends.
struct RunningCamera: Service {
    let camera: Camera
    let socket: PeerSocket
    /// Of the camera's own firmware.
    let firmware: FirmwareUpgrades?

    func run() async throws {
        let result = await Result {
            try await withThrowingTaskGroup(of: Void.self) { group in
                if let firmware { group.addTask { await firmware.serve() } }
                defer { group.cancelAll() }
                try await camera.run()
            }
        }
        await socket.close()
        try result.get()
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
