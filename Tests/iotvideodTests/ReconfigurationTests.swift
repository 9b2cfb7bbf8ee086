import IoTCore
import Logging
import Testing

@testable import iotvideod

/// The steps from the running cameras to those of a new configuration.
@Suite struct ReconfigurationTests {
    private func configuration(_ cameras: [CameraSettings]) -> Configuration {
        var configuration = Configuration(defaults: DefaultPaths(environment: [:], isRoot: true))
        configuration.cameras = cameras
        return configuration
    }

    private func plan(
        _ old: [CameraSettings], running: [CameraSettings]? = nil, _ new: [CameraSettings],
        openable: [CameraSettings]? = nil
    ) -> Reconfiguration {
        Reconfiguration(
            from: configuration(old),
            running: Dictionary(uniqueKeysWithValues: (running ?? old).map { ($0.name, $0) }), to: configuration(new),
            openable: openable ?? new)
    }

    private let a = CameraSettings(name: "a", url: "/1")
    private let b = CameraSettings(name: "b", url: "/2")

    @Test("Unchanged cameras are not affected, even if a default is written out or the order differs")
    func same() {
        let plan = plan([a, b], [b, CameraSettings(name: "a", url: "/1", rtspTransport: .tcp, viewers: 8)])
        #expect(plan.change.isEmpty && plan.begins.isEmpty && plan.ends.isEmpty)
        #expect(plan.configuration.cameras.map(\.name) == ["b", "a"])
    }

    @Test("New cameras start, removed ones stop, and changed ones restart, in the order of the configuration")
    func steps() {
        let changed = CameraSettings(name: "a", url: "/1", viewers: 3)
        let new = CameraSettings(name: "c", url: "/3")
        let plan = plan([a, b], [new, changed])
        #expect(plan.change.added == ["c"] && plan.change.changed == ["a"] && plan.change.removed == ["b"])
        #expect(plan.ends == ["b"] && plan.begins == [new, changed])
    }

    @Test("A new password with the same keys is a change, and the camera starts with it")
    func password() {
        let keys = CameraSettings(name: "a", url: "rtsp://h/", username: "u", passwordFile: "/p")
        let old = CameraSettings(name: "a", url: "rtsp://u:one@h/")
        let new = CameraSettings(name: "a", url: "rtsp://u:two@h/")
        #expect(plan([keys], running: [old], [keys], openable: [old]).change.isEmpty)
        let plan = plan([keys], running: [old], [keys], openable: [new])
        #expect(plan.change.changed == ["a"] && plan.begins == [new])
    }

    @Test("Cameras that could not be started are started again")
    func failed() {
        let plan = plan([a, b], running: [a], [a, b])
        #expect(plan.change.changed == ["b"] && plan.begins == [b] && plan.ends.isEmpty)
    }

    @Test("Keys that need a restart keep their running values and are reported")
    func keys() {
        var new = configuration([a])
        new.log.level = .error
        new.socket = "/elsewhere"
        let old = configuration([a])
        let plan = Reconfiguration(from: old, running: ["a": a], to: new, openable: [a])
        #expect(plan.change.applied == ["log.level"] && plan.change.restartNeeded == ["socket"])
        #expect(plan.configuration.log.level == .error && plan.configuration.socket == old.socket)
        #expect(plan.change.description == "applied: log.level; needs a restart: socket")
    }
}
