import Firmware
import GatewayAPI
import IoTCore

/// Follows the upgrade of a device until its end, also while the device, or this daemon, starts again.
struct UpgradeWatch {
    private static let handedOver = Int64(UpgradeReport.handedOver)
    private static let installed = Int64(UpgradeReport.installed)
    private static let interval = Duration.milliseconds(500)

    enum Outcome: Equatable {
        case installed, cancelled
    }

    let device: String
    private let path: APIPath
    /// The property's version before the upgrade: an older value is that of an earlier one.
    private var version: Int64

    /// - Throws: the error of reading the device's state.
    init(_ client: GatewayClient, device: String) async throws {
        self.device = device
        path = APIPath(
            "v1", "devices", device, "properties", query: ["path": "ProReadonly._otaUpgrade"])
        version = try await client.get(PropertyResponse.self, path).version
    }

    /// - Parameter limit: the longest time without a change.
    /// - Throws: the error with which the upgrade failed; `.messageTimeout`.
    func run(_ client: GatewayClient, limit: Duration) async throws -> Outcome {
        let clock = ContinuousClock()
        var last: Int64?
        var changed = clock.now
        while clock.now - changed < limit {
            if let value = try await value(client), value != last {
                (last, changed) = (value, clock.now)
                if let outcome = try Self.outcome(value) {
                    if Console.isTerminal { Console.redraw("") }
                    return outcome
                }
                show(value)
            }
            try await Task.sleep(for: Self.interval)
        }
        if Console.isTerminal { Console.redraw("") }
        throw IoTError(
            .messageTimeout, "the upgrade made no progress for \(Format.duration(limit))",
            remedy: "look at the device's log; --timeout waits longer")
    }

    /// `nil` as long as it goes on.
    static func outcome(_ value: Int64) throws -> Outcome? {
        switch value {
        case 0: return .cancelled
        case 1..<installed: return nil
        case installed: return .installed
        case Int64(ErrorCode.releaseVersionRefused.rawValue):
            throw IoTError(
                .releaseVersionRefused, "the hub offers no newer release that fits the device's version",
                remedy: "`iotctl firmware NAME` shows both versions, and the device's log has the reason")
        default: throw IoTError(ErrorCode(rawValue: Int(clamping: value)))
        }
    }

    /// `nil` while it is not known: before the upgrade's first report, and while the daemon starts again.
    private func value(_ client: GatewayClient) async throws -> Int64? {
        do {
            let answer = try await client.get(PropertyResponse.self, path)
            return answer.version > version ? answer.value["stVal"]?.integerValue : nil
        } catch let error as IoTError where [.daemonUnreachable, .linkUnavailable, .stopping].contains(error.code) {
            return nil
        }
    }

    private func show(_ value: Int64) {
        let text = value == Self.handedOver ? "installing" : "downloading"
        guard Console.isTerminal else { return Console.note("\(device): \(value) %, \(text)") }
        let width = 40
        let filled = Int(value) * width / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        Console.redraw("\(device): [\(bar)] \(value) %, \(text)")
    }
}
