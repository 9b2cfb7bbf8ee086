import ArgumentParser
import GatewayAPI
import Testing

@testable import iotctl

@Suite struct DiscoverCommandTests {
    @Test("A search takes 1 to 30 s, and a new camera has either a source or an ONVIF address")
    func validation() async throws {
        for arguments in [["--timeout", "1s"], ["--timeout", "30s"], ["--watch"], []] {
            await #expect(throws: Never.self) { try await NetCommand.Discover.asyncParse(arguments) }
        }
        for arguments in [["--timeout", "999ms"], ["--timeout", "31s"], ["--timeout", "soon"]] {
            await #expect(throws: (any Error).self) { try await NetCommand.Discover.asyncParse(arguments) }
        }
        for arguments in [["a", "/b"], ["a", "--onvif", "http://c/"], ["a", "--onvif", "http://c/", "--stream=sub"]] {
            await #expect(throws: Never.self) { try await CameraCommand.Add.asyncParse(arguments) }
        }
        for arguments in [
            ["a"], ["a", "/b", "--onvif", "http://c/"], ["a", "/b", "--stream", "sub"],
            ["a", "--onvif", "http://user:password@c/"],
        ] {
            await #expect(throws: (any Error).self) { try await CameraCommand.Add.asyncParse(arguments) }
        }
    }

    @Test("A row says what is known, and a command to copy runs nothing that a stranger wrote")
    func rows() {
        let found = FoundDevice(
            name: "gate", manufacturer: "Maker", model: "M-1", addresses: ["192.0.2.9"],
            foundBy: ["dnsSD", "wsDiscovery"], next: .add, onvif: "http://192.0.2.9/onvif/device_service")
        #expect(
            NetCommand.Discover.cells(found) == ["192.0.2.9", "gate", "Maker M-1", "DNS-SD, WS-Discovery", "add", "-"])
        let hint = NetCommand.Discover.hints([found]).first
        #expect(hint?.contains(" --onvif http://192.0.2.9/onvif/device_service ") == true)
        var evil = found
        evil.onvif = "http://192.0.2.9/onvif/$(reboot)';reboot;'"
        #expect(
            NetCommand.Discover.hints([evil]).first?
                .contains("'http://192.0.2.9/onvif/$(reboot)%27;reboot;%27'") == true)
        let ours = FoundDevice(deviceID: "aa", hasOwner: false, next: .bind)
        #expect(NetCommand.Discover.hints([ours]) == ["bind: iotctl device bind aa USER"])
        #expect(NetCommand.Discover.hints([FoundDevice(next: .none, camera: "door")]).isEmpty)
    }
}
