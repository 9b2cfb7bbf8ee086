import Firmware
import Foundation
import IoTCore
import IoTLink
import Logging
import MediaChannel
import Synchronization
import TestSupport
import Testing

@testable import iotvideod

/// A hub that has a newer release, or none.
private final class ReleaseHub: LinkRequester {
    private let newest = Mutex<String?>(nil)

    func offer(_ version: String?) { newest.withLock { $0 = version } }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        let version = newest.withLock { $0 }
        var answer: JSONValue = ["model": "m", "available": .bool(version != nil)]
        answer["version"] = version.map { .string($0) }
        return answer
    }
}

@Suite struct FirmwareUpgradesTests {
    @Test("By itself, the box begins with a newer version, but not with one that was handed over before")
    func byItself() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/firmware-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let configuration = try Configuration.parse(
            "", file: "/c.yaml", defaults: DefaultPaths(environment: [:], isRoot: true))
        let firmware = FirmwareUpgrades(
            FirmwareSupply(keys: [], directory: folder, source: try ReleaseSource(configuration)),
            BoxInstaller(
                directory: folder,
                target: FirmwareTarget(model: "m", version: FirmwareVersion("0.1.0")),
                logger: Logger(label: "test")), identity: nil, logger: Logger(label: "test"))
        let progress = Mutex<[Int32]>([])
        let device = DeviceID.random()
        firmware.attach(
            device,
            UpgradeReports { value in
                progress.withLock { $0.append(value) }
            } identity: { _ in
                Issue.record("the box's is a constant")
            })
        let hub = ReleaseHub()
        try await firmware.upgradeByItself(over: hub)
        #expect(progress.withLock { $0 }.isEmpty)
        // As after an upgrade that was handed over and rolled back.
        try "0.2.0\n".write(toFile: folder + "/tried", atomically: true, encoding: .utf8)
        chmod(folder + "/tried", 0o600)
        hub.offer("0.2.0")
        try await firmware.upgradeByItself(over: hub)
        #expect(progress.withLock { $0 }.isEmpty)
        hub.offer("0.3.0")
        try await firmware.upgradeByItself(over: hub)
        #expect(progress.withLock { $0 } == [1])
        // It still runs, because nothing carries it out here.
        await #expect(throws: IoTError.self) { try await firmware.upgradeByItself(over: hub) }
        firmware.detach(device)
        try firmware.cancel()
        #expect(progress.withLock { $0 } == [1], "a device that has gone hears nothing")
    }
}
