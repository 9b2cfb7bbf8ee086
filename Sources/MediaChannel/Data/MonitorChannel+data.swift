public import IoTCore
import MediaPlayer
public import NIOCore

/// The data of a channel's users (docs/channels.md, "Data"). At most 64,000 bytes each (21024).
extension MonitorChannel {
    /// How long the other side may take to make room, if the user does not say.
    public static let defaultPatience = Duration.seconds(10)

    /// Sends a message that needs no response. Returns when the connection has taken it, and there is room for it at the
    /// device.
    ///
    /// - Throws: 25057 if the device has no program that takes data; 21002 if it made no room in time; 20104 if the
    ///   device takes no data in this call.
    public func send(_ data: ByteBuffer, patience: Duration = defaultPatience) async throws(IoTError) {
        let core = core
        do {
            try await core.eventLoop.flatSubmit { core.value.feed.data.send(data, patience: TimeAmount(patience)) }
                .get()
        } catch {
            throw error as? IoTError ?? IoTError(.internalFailure, underlying: error)
        }
    }

    /// Asks the device for one response. Requests of a channel are answered one after the other.
    public func ask(_ data: ByteBuffer, timeout: Duration = defaultPatience) async throws(IoTError) -> ByteBuffer {
        let responses = try await responses(to: data, .one, timeout: timeout)
        guard case .element(let response) = try await responses.next(within: nil) else {
            throw IoTError(.devicePassThroughFailed, "the device ended the request without a response")
        }
        return response
    }

    /// Asks the device, and yields its responses until it sends no more. Releasing the reader ends the request.
    ///
    /// - Parameter timeout: for the request's turn and all its responses.
    public func responses(
        to data: ByteBuffer, _ responses: DataResponses = .many, timeout: Duration = defaultPatience
    ) async throws(IoTError) -> DataReader<ByteBuffer> {
        try await onCore { core throws(IoTError) in
            DataReader(
                try core.feed.data.ask(data, responses, timeout: TimeAmount(timeout)), on: core.eventLoop)
        }
    }

    /// Yields the device's messages from now on. Releasing the reader ends it.
    public func messages() async throws(IoTError) -> DataReader<ByteBuffer> {
        try await onCore { core throws(IoTError) in
            DataReader(try core.feed.data.listen(), on: core.eventLoop)
        }
    }
}
