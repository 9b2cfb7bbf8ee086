import GatewayAPI
import IoTCore
import MediaPlayer
import NIOCore

extension StageDescription {
    init(_ entry: StageEntry) {
        self.init(
            stage: entry.stage.rawValue, name: entry.stage.name, track: entry.track,
            time: Double(entry.time.nanoseconds) / 1e9, facts: .object(entry.facts))
    }
}
