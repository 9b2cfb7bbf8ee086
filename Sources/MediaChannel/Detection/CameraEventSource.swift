package import IoTCore

/// A camera's own detectors.
package protocol CameraEventSource: Sendable {
    /// Reports what they notice until the task is cancelled. After a failure it tries again.
    func run(_ report: @Sendable (CameraNotice) async -> Void) async
}

package enum CameraNotice: Sendable, Hashable {
    /// - Parameter detector: which of them; several may notice the same at once.
    case begins(DetectionType, detector: String)
    case ends(DetectionType, detector: String)
    /// It has no duration.
    case happens(DetectionType)
    /// What they have noticed still lasts.
    case goesOn
    /// What they notice is not known any more.
    case lost
}
