import IoTCore

/// Which events the states of a camera's source amount to: one when it is lost, one when it is there (again).
struct CameraSourceEvents: Sendable {
    static let lost = "EVENT_CAM/SourceLost"
    static let ready = "EVENT_CAM/SourceReady"

    struct Event: Sendable, Equatable {
        var topic: String
        /// `{"reason"}`, and for a loss its `code`.
        var body: JSONValue
    }

    /// Whether users were last told that the source is there; `nil` for nothing told yet.
    private var isReady: Bool?

    /// The event that this state makes; `nil` when it is none, or was told already. A source that is being connected
    /// to is neither there nor lost.
    mutating func event(for state: CameraSnapshot.SourceState) -> Event? {
        switch state {
        case .connecting: return nil
        case .ready:
            guard isReady != true else { return nil }
            defer { isReady = true }
            return Event(topic: Self.ready, body: ["reason": isReady == nil ? "started" : "recovered"])
        case .failed(let error):
            guard isReady != false else { return nil }
            isReady = false
            // Not the error's own words: they name the source's address, and everybody who may view reads events.
            return Event(
                topic: Self.lost,
                body: ["code": .integer(Int64(error.code.rawValue)), "reason": .string(error.code.message)])
        }
    }
}
