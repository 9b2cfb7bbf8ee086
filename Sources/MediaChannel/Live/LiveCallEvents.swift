import IoTCore
import IoTLink

/// Derives the events of live calls from their states: one when a call rings, begins and ends. A value without I/O.
struct LiveCallEvents: Sendable {
    static let topic = "EVENT_CAM/LiveCall"

    private var call: CameraSnapshot.Call?

    /// The events since the last call of this function.
    ///
    /// - Parameter call: The camera's live call now.
    mutating func events(for call: CameraSnapshot.Call?) -> [CameraEvent] {
        guard call != self.call else { return [] }
        defer { self.call = call }
        // A call that was accepted has not ended.
        let ended = call?.id == self.call?.id ? nil : self.call
        let changes = [(ended, "ended"), (call, call?.isRinging == true ? "ringing" : "began")]
        return changes.compactMap { call, state in
            guard let call else { return nil }
            return CameraEvent(
                topic: Self.topic,
                body: ["user": .string(call.user.id), "call": .string(call.id), "state": .string(state)])
        }
    }
}
