import GatewayAPI
import IoTCore

/// The state of a run. Receives events and decides when the run must end and when it has ended. No I/O.
struct MonitorOutcome {
    private let plan: MonitorPlan
    private var running: Set<MonitorSink.Kind>
    /// The sinks whose end can end the run. A dump ends earlier than another file.
    private let decisive: Set<MonitorSink.Kind>
    private var isSnapshotOpen: Bool
    private var isChannelOver = false
    private(set) var failure: IoTError?
    private(set) var snapshot: MonitorSummary.File?

    init(plan: MonitorPlan, sinks: [MonitorSink.Kind]) {
        self.plan = plan
        running = Set(sinks)
        let files = running.filter { $0.dumpPart == nil }
        decisive = files.isEmpty ? running : files
        isSnapshotOpen = plan.snapshot != nil
    }

    /// True when all files and the channel have ended.
    var isFinished: Bool { running.isEmpty && isChannelOver }

    /// - Returns: true if the event ends the run.
    mutating func take(_ event: MonitorEvent) -> Bool {
        switch event {
        case .interrupted, .timeIsUp, .framesShown:
            return true
        case .channelEnded:
            isChannelOver = true
            return true
        case .playbackFinished(let error):
            failure = failure ?? error
            return true
        case .failed(let error):
            failure = failure ?? error
            return true
        case .snapshotTaken(let pts, let size):
            isSnapshotOpen = false
            snapshot = plan.snapshot.map { .init(kind: "snapshot", path: $0.path, bytes: size, pts: pts) }
            return plan.isSnapshotAlone
        case .sinkEnded(let kind):
            running.remove(kind)
            guard decisive.contains(kind) else { return false }
            // A body ends after the requested number of pictures, or when its reader has closed the pipe.
            return running.isDisjoint(with: decisive) && (plan.frames != nil || !isSnapshotOpen)
        case .drainLimitReached:
            if let kind = running.first {
                let message = "the \(kind.words) did not end in time; its file may be incomplete"
                failure = failure ?? IoTError(.slowReader, message)
            }
            running = []
            isChannelOver = true
            return true
        }
    }

    /// Called at the end of the run: a missing snapshot is an error now.
    mutating func finish() {
        if isSnapshotOpen, failure == nil {
            failure = IoTError(.messageTimeout, "the run ended before a picture for the snapshot arrived")
        }
    }
}
