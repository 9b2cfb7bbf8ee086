import IoTCore

/// An event of a camera that its hub stores for the camera's users.
struct CameraEvent: Sendable, Equatable {
    var topic: String
    var body: JSONValue
}
