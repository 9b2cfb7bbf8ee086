import IoTCore

/// Derives the source's events from its states: one when it is lost, one when it is ready (again).
struct CameraSourceEvents: Sendable {
    static let lost = "EVENT_CAM/SourceLost"
    static let ready = "EVENT_CAM/SourceReady"

    /// Whether the last event reported the source as ready; `nil` before the first event.
    private var isReady: Bool?

    /// The event for this state, with `reason`, and with `code` if the source is lost; `nil` if there is none or it was already reported. While the source is connecting, it
    /// is neither ready nor lost.
    mutating func event(for state: CameraSnapshot.SourceState) -> CameraEvent? {
        switch state {
        case .connecting: return nil
        case .ready:
            guard isReady != true else { return nil }
            defer { isReady = true }
            return CameraEvent(topic: Self.ready, body: ["reason": isReady == nil ? "started" : "recovered"])
        case .failed(let error):
            guard isReady != false else { return nil }
            isReady = false
            // The error's own message contains the source's address, but everybody who may view the camera can read
            // events.
            return CameraEvent(
                topic: Self.lost,
                body: ["code": .integer(Int64(error.code.rawValue)), "reason": .string(error.code.message)])
        }
    }
}
