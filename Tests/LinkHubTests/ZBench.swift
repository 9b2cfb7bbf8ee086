import Foundation
import IoTCore
import IoTLink
import Testing
import ThingModel
@testable import LinkHub

@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["HUB_BENCH"] != nil))
struct ZBench {
    @Test func inProcess() async throws {
        for writers in [1, 64, 512] {
            let directory = TemporaryDirectory()
            let hub = try InProcessHub(directory: directory)
            let (owner, _) = try await hub.prepare()
            let count = writers == 1 ? 300 : 40_000
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for w in 0..<writers {
                    group.addTask {
                        for i in 0..<count / writers {
                            let r = try await hub.request(owner, "property.write", ["device": "front", "path": w % 2 == 0 ? "ProWritable.quality.setVal" : "ProWritable.volume.setVal", "value": .integer(Int64(i))])
                            if r.code != .success { print(r) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let t = ContinuousClock.now - start
            let s = Double(t.components.seconds) + Double(t.components.attoseconds) / 1e18
            print("BENCH in-process writers=\(writers) \(Int(Double(count) / s))/s, transactions \(hub.service.statistics.transactions)")
            await hub.stop()
        }
    }
    @Test func ready() async throws {
        for round in 0..<4 {
            let directory = TemporaryDirectory()
            let start = ContinuousClock.now
            try await withHub(in: directory) { _ in
                print("BENCH start to ready round \(round): \(ContinuousClock.now - start)")
            }
        }
    }
    @Test func overBroker() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            try await withSession(hub, .device(device), deviceToken) { camera in
                _ = try await camera.request("model.login", try ModelLogin.sample().json)
            }
            try await withSession(hub, owner, ownerToken) { user in
                for writers in [1, 64, 250] {
                    let count = writers == 1 ? 200 : 20_000
                    let start = ContinuousClock.now
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for w in 0..<writers {
                            group.addTask {
                                for i in 0..<count / writers {
                                    _ = try await user.request("property.write", ["device": "front", "path": w % 2 == 0 ? "ProWritable.quality.setVal" : "ProWritable.volume.setVal", "value": .integer(Int64(i))], timeout: .seconds(30))
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    let t = ContinuousClock.now - start
                    let s = Double(t.components.seconds) + Double(t.components.attoseconds) / 1e18
                    print("BENCH over broker writers=\(writers) \(Int(Double(count) / s))/s; heartbeat:")
                    let h = ContinuousClock.now
                    for _ in 0..<200 { _ = try await user.request("device.list") }
                    print("BENCH   read round trip \((ContinuousClock.now - h) / 200)")
                }
            }
        }
    }
}
