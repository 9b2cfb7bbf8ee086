public import IoTCore

/// Where a camera plays what it hears.
public protocol Loudspeaker: AnyObject, Sendable {
    /// Starts at the first spoken packet; may take time.
    func open() async throws(IoTError)

    /// Plays 48 kHz mono sound, which comes in frames of 20 ms at the pace of the monotonic clock. Does not block: the
    /// oldest sound is dropped if too much waits.
    func play(_ samples: [Int16])

    /// Why it ended by itself, for example because it was disconnected; `nil` while it works.
    var failure: IoTError? { get }

    /// Plays what waits, and ends. A second call does nothing.
    func close() async
}
