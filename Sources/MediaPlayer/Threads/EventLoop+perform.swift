package import IoTCore
package import NIOCore

extension EventLoop {
    /// Runs `body` on the loop and rethrows its error.
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable () throws(IoTError) -> Value
    ) async throws(IoTError) -> Value {
        do {
            return try await submit(body).get()
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.internalFailure, underlying: error)
        }
    }
}
