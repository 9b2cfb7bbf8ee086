public import IoTCore
public import NIOCore

/// The program beside a camera, which takes and answers the data of the camera's users (docs/channels.md, "Data").
extension Camera {
    /// Takes the data of the camera's users. Releasing the reader ends it.
    ///
    /// - Throws: 25058 while another program takes it.
    public func takeData() async throws(IoTError) -> DataReader<CameraDataEvent> {
        let stream = stream
        return try await stream.run { stream in
            stream.eventLoop.makeCompletedFuture {
                DataReader(try stream.data.listen(), on: stream.eventLoop)
            }
        }
    }

    /// Sends a message to one call, or to all at whose other end somebody listens. Returns when the connections have
    /// taken it: to how many calls.
    ///
    /// - Throws: 25057 if nobody listens; 21002 if no room was made in time.
    @discardableResult
    public func send(
        _ bytes: ByteBuffer, to call: String? = nil, patience: Duration = MonitorChannel.defaultPatience
    ) async throws(IoTError) -> Int {
        let patience = TimeAmount(patience)
        return try await stream.run { stream in
            do throws(IoTError) {
                guard let call else { return try stream.data.sendToAll(bytes, patience: patience) }
                return try stream.data.server(call).send(bytes, patience: patience).map { 1 }
            } catch {
                return stream.eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - bytes: `nil` to end a request for many responses without another one.
    ///   - isLast: whether no more responses follow. The one response of a request for one is always the last.
    /// - Throws: 25003 if the request has ended.
    public func respond(
        to number: UInt32, of call: String, _ bytes: ByteBuffer?, isLast: Bool = true,
        patience: Duration = MonitorChannel.defaultPatience
    ) async throws(IoTError) {
        let patience = TimeAmount(patience)
        try await stream.run { stream in
            do throws(IoTError) {
                return try stream.data.server(call).respond(number, bytes, isLast: isLast, patience: patience)
            } catch {
                return stream.eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// Ends a request without a response: the user gets the error's number and message.
    public func refuse(_ number: UInt32, of call: String, _ error: IoTError) async throws(IoTError) {
        try await stream.run { stream in
            stream.eventLoop.makeCompletedFuture { try stream.data.server(call).refuse(number, error) }
        }
    }
}
