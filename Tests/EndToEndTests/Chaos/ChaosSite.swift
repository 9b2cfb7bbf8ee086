import Foundation
import Synchronization
import Testing

/// A hub's box with a camera, a camera box and a gateway box, each its own host, over TLS.
final class ChaosSite: Sendable {
    enum Box: String, CaseIterable, Sendable {
        case hub, camera, gateway
    }

    /// The devices: the hub's box has `front`, the camera box `yard`.
    static let devices = ["front", "yard"]

    private let network: TestNetwork
    private let configurations: [Box: String]
    private let folders: [Box: TemporaryFolder]
    private let daemons: Mutex<[Box: RunningDaemon]>
    private let departures = Mutex<[Duration]>([])

    /// The times from a camera box's kill until the hub's box saw its device offline.
    var departureTimes: [Duration] { departures.withLock { $0 } }

    init() async throws {
        let network = try await TestNetwork(hosts: Box.allCases.map(\.rawValue))
        self.network = network
        func configuration(_ box: Box, _ text: String, camera: String? = nil) -> String {
            let cameras = camera.map {
                "cameras:\n  - name: \($0)\n    url: \(Product.sample("street-h265-aac.mp4"))\n"
            }
            return text + "media:\n  listen: \(network.address(box.rawValue)):0\n" + (cameras ?? "")
        }
        let configurations: [Box: String] = [
            .hub: configuration(
                .hub, "hub:\n  tls:\n    listen: \(network.address("hub")):8883\n", camera: Self.devices[0]),
            .camera: configuration(.camera, "", camera: Self.devices[1]),
            .gateway: configuration(.gateway, ""),
        ]
        self.configurations = configurations
        let hub = try await RunningDaemon(
            configuration: configurations[.hub], prefix: network.prefix(Box.hub.rawValue))
        func iotctl(_ arguments: String...) async throws -> String {
            let outcome = try await hub.iotctl(arguments)
            try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome.text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        func join(_ box: Box, _ enrolment: String) async throws -> RunningDaemon {
            let folder = try TemporaryFolder()
            let file = folder.path("enrolment")
            _ = FileManager.default.createFile(
                atPath: file, contents: Data(enrolment.utf8), attributes: [.posixPermissions: 0o600])
            return try await RunningDaemon(
                folder: folder, configuration: configurations[box], arguments: ["--join", file],
                prefix: network.prefix(box.rawValue))
        }
        _ = try await iotctl("user", "create", "bob")
        let camera = try await join(.camera, try await iotctl("token", "create", "--enrol", "--device", "yard"))
        let gateway = try await join(.gateway, try await iotctl("token", "create", "--enrol", "--user", "bob"))
        for device in Self.devices {
            _ = try await iotctl(
                "device", "bind", device, "bob", "--action", "view", "--action", "configure", "--action", "control")
        }
        folders = [.hub: hub.folder, .camera: camera.folder, .gateway: gateway.folder]
        daemons = Mutex([.hub: hub, .camera: camera, .gateway: gateway])
    }

    /// A client of the box's API; it stays valid when the daemon is restarted.
    func client(_ box: Box) -> SocketClient {
        SocketClient(socket: folders[box]?.path("socket") ?? "")
    }

    private func daemon(_ box: Box) throws -> RunningDaemon {
        try #require(daemons.withLock { $0[box] })
    }

    func log(_ box: Box) -> String {
        (try? daemon(box))?.log ?? ""
    }

    // MARK: Faults

    /// Causes a fault, and ends it after its pause.
    func strike(_ strike: ChaosPlan.Strike) async throws {
        let clock = ContinuousClock()
        switch strike.fault {
        case .broker:
            // The hub's status has the broker's process; while the broker restarts there is none to kill.
            let status = await client(.hub).request("GET", "/v1/status")?.object
            guard let process = (status?["broker"] as? [String: Any])?["process"] as? Int else { return }
            kill(Int32(process), SIGKILL)
        case .hub: try await restart(.hub, after: strike.pause)
        case .camera: try await restart(.camera, after: strike.pause, mustBeSeen: strike.mustBeSeen)
        case .gateway: try await restart(.gateway, after: strike.pause)
        case .cameraCable, .gatewayCable:
            let host = strike.fault == .cameraCable ? "camera" : "gateway"
            try await network.setLink(host, isUp: false)
            try await clock.sleep(for: strike.pause)
            try await network.setLink(host, isUp: true)
        }
    }

    private func restart(_ box: Box, after pause: Duration, mustBeSeen: Bool = false) async throws {
        let clock = ContinuousClock()
        let old = try daemon(box)
        old.kill()
        _ = await old.ended()
        let gone = clock.now
        if mustBeSeen {
            try await eventually("yard offline", within: .seconds(30)) {
                await presenceTrouble(of: Self.devices[1], at: .hub, isOnline: false) == nil
            }
            let took = clock.now - gone
            departures.withLock { $0.append(took) }
        }
        try await clock.sleep(until: gone + pause)
        let new = try await RunningDaemon(
            folder: old.folder, configuration: configurations[box], prefix: network.prefix(box.rawValue))
        daemons.withLock { $0[box] = new }
    }

    func stop() async {
        for box in [Box.gateway, .camera, .hub] { await (try? daemon(box))?.stop() }
    }

    // MARK: State

    /// Everything that is not yet as it must be without faults; empty if nothing is.
    func troubles() async -> [String] {
        var troubles: [String] = []
        for box in [Box.hub, .gateway] {
            let status = await client(box).request("GET", "/v1/status", timeout: 3)?.object
            let link = (status?["link"] as? [String: Any])?["name"] as? String
            if link != "online" { troubles.append("\(box)'s link is \(link ?? "unknown")") }
            if box == .hub, (status?["broker"] as? [String: Any])?["process"] == nil { troubles.append("no broker") }
            for device in Self.devices {
                if let trouble = await presenceTrouble(of: device, at: box, isOnline: true) { troubles.append(trouble) }
            }
        }
        return troubles
    }

    /// Compares the device's presence in the list with the one in the stored model.
    func presenceTrouble(of device: String, at box: Box, isOnline: Bool) async -> String? {
        guard let shown = await client(box).request("GET", "/v1/devices/\(device)", timeout: 3), shown.status == 200
        else { return "\(box) cannot show \(device)" }
        let listed = shown.object["online"] as? Bool
        let readonly = (shown.object["model"] as? [String: Any])?["ProReadonly"] as? [String: Any]
        let stored = (readonly?["_online"] as? [String: Any])?["stVal"] as? Int
        guard listed == isOnline, stored == (isOnline ? 1 : 0) else {
            return "\(device) at \(box): online \(listed as Any), in its model \(stored as Any)"
        }
        return nil
    }
}
