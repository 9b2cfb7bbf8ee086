import IoTCore

/// Makes events of what a camera's own detectors notice: one for each type, from the first detector that notices it until
/// the last one that does not any more. A value without I/O. Times are µs on a clock that does not jump.
struct NoticedEvents: Sendable {
    /// A camera has some detectors; more are ignored.
    static let mostDetectors = 64

    private struct Active {
        var detectors: Set<String>
        var begin: Int64
    }

    private var active: [DetectionType: Active] = [:]

    mutating func take(_ notice: CameraNotice, at time: Int64) -> [(DetectionType, DetectionPhase)] {
        switch notice {
        case .begins(let type, let detector):
            guard active.values.reduce(0, { $0 + $1.detectors.count }) < Self.mostDetectors else { return [] }
            guard active[type]?.detectors.insert(detector) == nil else { return [] }
            active[type] = Active(detectors: [detector], begin: time)
            return [(type, .begins)]
        case .ends(let type, let detector):
            guard active[type]?.detectors.remove(detector) != nil, active[type]?.detectors.isEmpty == true else {
                return []
            }
            return end(type, at: time)
        case .happens(let type):
            return active[type] == nil ? [(type, .begins)] : []
        case .goesOn:
            return active.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { goOn($0, at: time) }
        case .lost:
            return active.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { end($0, at: time) }
        }
    }

    private mutating func goOn(_ type: DetectionType, at time: Int64) -> [(DetectionType, DetectionPhase)] {
        guard let event = active[type], time - event.begin > MotionEvents.longest else { return [(type, .goesOn)] }
        active[type]?.begin = time
        return [(type, .ends(lasted: time - event.begin)), (type, .begins)]
    }

    private mutating func end(_ type: DetectionType, at time: Int64) -> [(DetectionType, DetectionPhase)] {
        guard let event = active.removeValue(forKey: type) else { return [] }
        return [(type, .ends(lasted: time - event.begin))]
    }
}
