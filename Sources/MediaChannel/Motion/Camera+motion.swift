import IoTCore

extension Camera {
    /// Makes detections of the motion in the camera's pictures, until the stream ends.
    func reportMotion(_ events: AsyncStream<MotionEvents.Event>) async {
        let quiet = Duration.microseconds(MotionEvents.quiet)
        var detection: Detection?
        for await event in events {
            switch event {
            case .begins:
                detection = try? await detected(.motion, for: quiet)
            case .goesOn:
                _ = recorder?.begin(.motion, for: quiet)
            case .ends(let lasted):
                guard var over = detection else { continue }
                detection = nil
                over.end = over.start + lasted / 1_000
                over.isOver = true
                try? post(Detection.topic, over.body)
            }
        }
    }
}
