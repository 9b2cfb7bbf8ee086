import IoTCore
import IoTLink

/// Derives the events of live calls from their states: one when a call begins, one when it ends. A value without I/O.
struct LiveCallEvents: Sendable {
    static let topic = "EVENT_CAM/LiveCall"

    private var caller: Principal?

    /// The events since the last call.
    ///
    /// - Parameter caller: Who is in a live call with the camera now.
    mutating func events(for caller: Principal?) -> [CameraEvent] {
        guard caller != self.caller else { return [] }
        defer { self.caller = caller }
        let changes = [(self.caller, "ended"), (caller, "began")]
        return changes.compactMap { user, state in
            guard let user else { return nil }
            return CameraEvent(topic: Self.topic, body: ["user": .string(user.id), "state": .string(state)])
        }
    }
}
