import MediaChannel
import PeerTransport
import ServiceLifecycle

/// A camera with the UDP port of its viewers, which it closes at its end.
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
