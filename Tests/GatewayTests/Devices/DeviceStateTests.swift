import GatewayAPI
import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import Gateway

/// The API's device state for the hub's reports.
@Suite struct DeviceStateTests {
    private func device(_ more: JSONValue) throws -> GatewayAPI.DeviceSummary {
        var json: JSONValue = [
            "id": .string(String(repeating: "a", count: 32)), "name": "front", "role": "owner", "presenceSince": 2_000,
        ]
        for (name, value) in more.objectValue ?? [:] { json[name] = value }
        return GatewayAPI.DeviceSummary(
            try ThingModel.DeviceSummary(LinkMembers(json, of: "device.list", failure: .modelReceiveFailed)))
    }

    @Test("A device is online if it is connected and, for a camera, its source delivers")
    func online() throws {
        let ready = try device(["online": true, "source": ["state": "ready", "since": 5]])
        #expect(ready.online && ready.state == .ready && ready.stateSince == 5_000 && ready.reason == nil)
        let failed = try device(["online": true, "source": ["state": "failed", "since": 5, "code": 25040]])
        #expect(!failed.online && failed.state == .failed && failed.stateSince == 5_000)
        #expect(failed.reason == APIError(IoTError(.sourceRefused)))
        for (word, state) in [("connecting", DeviceState.connecting), ("off", .off), ("", .connecting)] {
            let other = try device(["online": true, "source": ["state": .string(word), "since": 5]])
            #expect(!other.online && other.state == state && other.reason == nil)
        }
        let plain = try device(["online": true])
        #expect(plain.online && plain.state == .ready && plain.stateSince == 2_000)
    }

    @Test("A disconnected camera is offline since it disconnected, whatever it reported last")
    func offline() throws {
        let gone = try device(["online": false, "source": ["state": "ready", "since": 1]])
        #expect(!gone.online && gone.state == .offline && gone.stateSince == 2_000 && gone.reason == nil)
        // When it reconnects, it is ready since the reconnection.
        let back = try device(["online": true, "source": ["state": "ready", "since": 1]])
        #expect(back.stateSince == 2_000)
    }
}
