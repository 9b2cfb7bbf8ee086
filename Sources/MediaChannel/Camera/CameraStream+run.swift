import IoTCore
import NIOCore

extension NIOLoopBoundBox<CameraStream> {
    /// Runs `body` on the camera's event loop, and returns the value of its future.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (CameraStream) -> EventLoopFuture<Result>
    ) async throws(IoTError) -> Result {
        do {
            return try await eventLoop.flatSubmit { [self] in body(value) }.get()
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.internalFailure, underlying: error)
        }
    }
}
