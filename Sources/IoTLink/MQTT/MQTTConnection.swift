public import IoTCore

/// One MQTT 3.1.1 connection over libmosquitto, on a thread of its own; make a new one to reconnect.
///
/// Publishing is QoS 1. All functions may be called from any thread and return at once.
public final class MQTTConnection: Sendable {
    private let thread: MosquittoThread

    /// - Parameter onEvent: called on the connection's own thread, one event at a time, in order. While it runs
    ///   nothing is read from the broker: blocking there holds the broker back, and nobody else.
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

    /// Asks the broker for a filter's messages at QoS 1. Throws 25024 when too much waits, 21025 after the end.
    public func subscribe(_ filter: String) throws(IoTError) {
        try thread.enqueue(.subscribe(filter))
    }

    /// Publishes at QoS 1, not retained, in the order of the calls. Success means accepted for sending.
    /// Throws 25024 when too much waits, 21025 after the end.
    public func publish(_ message: MQTTMessage) throws(IoTError) {
        try thread.enqueue(.publish(message))
    }

    /// Sends what waits, takes its acknowledgements, sends DISCONNECT (so that the will is not published), and ends:
    /// within a second. Before `connected` it ends at once; before `connect()` no event comes.
    public func disconnect() {
        thread.disconnect()
    }
}
