public import IoTCore

/// One MQTT 3.1.1 connection over libmosquitto, on its own thread. To reconnect, create a new connection.
///
/// Messages are published with QoS 1. All functions may be called from any thread and do not block.
public final class MQTTConnection: Sendable {
    private let thread: MosquittoThread

    /// - Parameter onEvent: called on the connection's own thread, one event at a time, in order. While it runs,
    ///   nothing is read from the broker. Blocking there delays this connection only.
    public init(configuration: MQTTConfiguration, onEvent: @escaping @Sendable (MQTTEvent) -> Void) {
        thread = MosquittoThread(configuration: configuration, onEvent: onEvent)
    }

    deinit {
        thread.disconnect()
    }

    /// Starts the thread and the connection; only the first call has an effect.
    public func connect() {
        thread.start()
    }

    /// Subscribes to a topic filter with QoS 1. Throws 25024 when the queue is full, 21025 after the connection ended.
    public func subscribe(_ filter: String) throws(IoTError) {
        try thread.enqueue(.subscribe(filter))
    }

    /// Publishes with QoS 1, not retained, in the order of the calls. Returns when the message is queued.
    /// Throws 25024 when the queue is full, 21025 after the connection ended.
    ///
    /// - Parameter isJoinable: the message is an envelope, and may be sent together with its neighbours as one
    ///   `EnvelopeBatch`.
    public func publish(_ message: MQTTMessage, isJoinable: Bool = false) throws(IoTError) {
        try thread.enqueue(.publish(message, isJoinable: isJoinable))
    }

    /// Ends the connection within a second: sends the queued messages, waits for their acknowledgements and sends
    /// DISCONNECT, so that the will is not published. If the event `connected` has not come, it ends at once. If
    /// `connect()` was not called, no event follows.
    public func disconnect() {
        thread.disconnect()
    }
}
