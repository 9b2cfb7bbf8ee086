import IoTCore
import RecordingStore
import Yams

extension ConfigurationKey {
    static let recording: [ConfigurationKey] = [
        ConfigurationKey("recording.directory", default: "none", \.recording.directory) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("recording.cameraDirectories", default: "{}", \.recording.cameraDirectories) {
            node, context throws(ValueRefusal) in
            try node.mapping { value throws(ValueRefusal) in context.path(try value.text()) }
        },
        ConfigurationKey("recording.keyFiles", default: "[]", \.recording.keyFiles) {
            node, context throws(ValueRefusal) in
            try node.list { item throws(ValueRefusal) in context.path(try item.text()) }
        },
        ConfigurationKey("recording.sync", default: "normal", \.recording.sync) { node, _ throws(ValueRefusal) in
            try node.choice(SyncMode.self)
        },
        ConfigurationKey("recording.freeSpace", default: "1073741824", \.recording.freeSpace) {
            node, _ throws(ValueRefusal) in Int64(try node.integer(in: 0...1_000_000_000_000_000))
        },
        ConfigurationKey("recording.maximumDays", default: "none", \.recording.maximumDays) {
            node, _ throws(ValueRefusal) in try node.integer(in: CameraRecordPolicy.dayLimits)
        },
        ConfigurationKey("recording.cameraBytes", default: "none", \.recording.cameraBytes) {
            node, _ throws(ValueRefusal) in Int64(try node.integer(in: CameraRecordPolicy.byteLimits))
        },
        ConfigurationKey("recording.beforeEvent", default: "5s", \.recording.beforeEvent) {
            node, _ throws(ValueRefusal) in try node.duration(in: .zero...(.seconds(60)))
        },
        ConfigurationKey("recording.afterEvent", default: "10s", \.recording.afterEvent) {
            node, _ throws(ValueRefusal) in try node.duration(in: .seconds(1)...(.seconds(600)))
        },
    ]
}
