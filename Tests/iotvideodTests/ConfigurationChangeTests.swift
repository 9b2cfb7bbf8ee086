import IoTCore
import Testing

@testable import iotvideod

@Suite struct ConfigurationChangeTests {
    private func parse(_ text: String) throws -> Configuration {
        try Configuration.parse(text, file: "/c.yaml", defaults: DefaultPaths(environment: [:], isRoot: true))
    }

    @Test("Cameras are compared by name: new, changed in any key, removed")
    func cameras() throws {
        let old = try parse("cameras: [{name: a, url: /1}, {name: b, url: /2}, {name: c, url: /3}]")
        let new = try parse("cameras: [{name: d, url: /4}, {name: c, url: /3, viewers: 2}, {name: b, url: /2}]")
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.added == ["d"])
        #expect(change.changed == ["c"])
        #expect(change.removed == ["a"])
        #expect(change.restartNeeded.isEmpty)
        #expect(ConfigurationChange(from: new, to: new).isEmpty)
    }

    @Test("Keys that take effect immediately are applied; the others are reported again until the restart")
    func keys() throws {
        let old = try parse("")
        let new = try parse(
            "log: {level: debug}\nchannels: {connections: 3, idleTimeout: 2s}\nhub: {listen: '127.0.0.1:7'}\n"
                + "api: {listen: '127.0.0.1:8', names: [a.example]}")
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.applied == ["log.level", "channels.connections", "channels.idleTimeout"])
        #expect(change.restartNeeded == ["hub.listen", "api.listen", "api.names"])
        let running = old.adopting(new)
        #expect(running.log == new.log && running.channels == new.channels)
        #expect(running.hub == old.hub && running.api == old.api)
        #expect(ConfigurationChange(from: running, to: new).applied.isEmpty)
        #expect(ConfigurationChange(from: running, to: new).restartNeeded == change.restartNeeded)
    }

    @Test("A camera is recorded only with a directory for recordings")
    func recording() throws {
        let camera = "cameras: [{name: a, url: /1, record: continuous}]"
        let error = #expect(throws: IoTError.self) { try parse(camera) }
        #expect(error?.message.contains("needs recording.directory") == true)
        let configuration = try parse("recording: {directory: /r}\n" + camera)
        #expect(configuration.cameras.first?.record == .continuous && configuration.recording.directory == "/r")
    }

    @Test("A change of any key is found", arguments: ConfigurationKey.all.map(\.name))
    func everyKey(name: String) throws {
        let values = [
            "dataDirectory": "/x", "socket": "/y", "log.level": "trace",
            "log.file": "/l", "log.maximumSize": "65536", "media.listen": "'[::1]:5'",
            "media.iceServers": "['stun:h']", "media.turnSecretFile": "/s", "media.useCameraServers": "false",
            "discovery.announce": "false",
            "definitions.preferred": "[mid, 720p]", "channels.connections": "2", "channels.calls": "2",
            "channels.idleTimeout": "5s", "hub.enabled": "true",
            "hub.mosquitto": "/m",
            "hub.listen": "127.0.0.1:0", "hub.tls.listen": "0.0.0.0:8883", "hub.tls.names": "[h]",
            "hub.tls.certificateFile": "/c", "hub.tls.keyFile": "/k", "link.accessId": "a", "link.tokenFile": "/t",
            "link.endpoint": "'hub:1'", "link.certificateAuthorityFile": "/a", "api.listen": "127.0.0.1:8443",
            "api.tls": "true", "api.certificateFile": "/c", "api.keyFile": "/k",
            "api.allowedOrigins": "['https://a']", "api.names": "[n]", "api.requestTimeout": "5s",
            "provisioning.ways": "[qr]", "provisioning.listen": "127.0.0.1:80", "provisioning.interface": "wlan0",
            "provisioning.possessionFile": "/p", "provisioning.user": "u", "provisioning.passwordFile": "/q",
            "provisioning.applier": "dryRun", "provisioning.dryRunFile": "/n", "provisioning.timeout": "5s",
            "recording.directory": "/r", "recording.sync": "strict", "recording.freeSpace": "0",
            "recording.maximumDays": "7", "recording.keyFiles": "[/k]", "recording.cameraDirectories": "{front: /d}",
            "firmware.keyFiles": "[/k]", "firmware.directory": "/f",
            "firmware.times": "'03:00-04:00'", "firmware.url": "'https://h:1'",
            "firmware.tokenFile": "/t", "firmware.certificateAuthorityFile": "/a",
            "recording.cameraBytes": "100000000", "recording.beforeEvent": "1s", "recording.afterEvent": "20s",
            "rtsp.listen": "0.0.0.0:8554", "rtsp.tls": "false", "rtsp.udpPort": "8000",
            "lan.listen": "0.0.0.0:7443",
        ]
        let value = try #require(values[name], "a new key needs a value here")
        let key = try #require(ConfigurationKey.all.first { $0.name == name })
        let steps = name.split(separator: ".")
        let text = steps.joined(separator: ": {") + ": " + value + String(repeating: "}", count: steps.count - 1)
        let plain = try parse("")
        var reader = ConfigurationReader(
            context: .init(file: "/c", directory: "/"), configuration: plain, keys: ConfigurationKey.all)
        _ = reader.read(text)
        #expect(reader.problems.isEmpty)
        #expect(!key.isEqual(plain, reader.configuration))
        #expect(ConfigurationKey.all.filter { !$0.isEqual(plain, reader.configuration) }.map(\.name) == [name])
        var taken = plain
        key.take(reader.configuration, &taken)
        #expect(taken == reader.configuration)
    }
}
