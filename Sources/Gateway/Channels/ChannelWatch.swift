import CoreMetrics
import GatewayAPI
import IoTCore

/// Finds the changes of channels between two observations.
struct ChannelWatch {
    struct Observation {
        var owner: AccessID
        /// Several uses may share one channel, which is counted once.
        var channel: ObjectIdentifier
        /// Describes the use.
        var description: ChannelDescription
        /// The statistics of the whole channel.
        var statistics: StatisticsReport
    }

    private var known: [String: (owner: AccessID, change: ChannelChange)] = [:]
    private var counted: [ObjectIdentifier: StatisticsReport] = [:]

    /// Returns the changes and the account that each concerns.
    mutating func observe(_ observations: [Observation]) -> [(AccessID, ChannelChange)] {
        var changes: [(AccessID, ChannelChange)] = []
        var present: [String: (owner: AccessID, change: ChannelChange)] = [:]
        for observation in observations {
            let description = observation.description
            let change = ChannelChange(
                id: description.id, device: description.device, deviceName: description.deviceName,
                state: description.state, closed: false)
            present[description.id] = (observation.owner, change)
            if known[description.id]?.change != change { changes.append((observation.owner, change)) }
        }
        for (id, old) in known where present[id] == nil {
            var change = old.change
            change.closed = true
            change.state = ChannelState(connection: .disconnected, player: .stopped)
            if !old.change.state.isInterrupted { change.state.reason = old.change.state.reason }
            changes.append((old.owner, change))
        }
        known = present
        count(observations)
        return changes
    }

    private mutating func count(_ observations: [Observation]) {
        var now: [ObjectIdentifier: StatisticsReport] = [:]
        for observation in observations {
            guard now[observation.channel] == nil else { continue }
            let report = observation.statistics
            now[observation.channel] = report
            let before = counted[observation.channel]
            Self.add("video", report.video, before?.video)
            Self.add("audio", report.audio, before?.audio)
        }
        counted = now
    }

    private static func add(_ kind: String, _ now: TrackStatistics?, _ before: TrackStatistics?) {
        guard let now else { return }
        let fields: [(String, KeyPath<TrackStatistics, Int?>)] = [
            ("iotvideod_received_packets", \.packetsReceived), ("iotvideod_received_bytes", \.bytesReceived),
            ("iotvideod_lost_packets", \.packetsLost), ("iotvideod_frames_decoded", \.framesDecoded),
            ("iotvideod_frames_shown", \.framesShown), ("iotvideod_frames_dropped", \.framesDropped),
        ]
        for (name, path) in fields {
            let added = (now[keyPath: path] ?? 0) - (before?[keyPath: path] ?? 0)
            // A counter must not decrease, but the number of lost packets does when a late one arrives.
            if added > 0 { Counter(label: name, dimensions: [("kind", kind)]).increment(by: added) }
        }
    }
}
