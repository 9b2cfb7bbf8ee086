import MediaChannel
import PeerTransport
import ServiceLifecycle

/// A camera and the UDP socket for its viewers, which is closed when the camera ends.
struct RunningCamera: Service {
    let camera: Camera
    let socket: PeerSocket

    func run() async throws {
        let result = await Result { try await camera.run() }
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
