import IoTCore

/// Something that the box, or the camera itself, has noticed.
struct NoticedDetection: Sendable {
    enum Source: Sendable {
        case pictures
        case camera
    }

    var source: Source
    var type: DetectionType
    var phase: DetectionPhase

    /// How long it is expected to last from the last notice on.
    var expected: Duration {
        switch source {
        case .pictures: .microseconds(MotionEvents.quiet)
        // Its answers come every five seconds, and may be late.
        case .camera: .seconds(15)
        }
    }
}
