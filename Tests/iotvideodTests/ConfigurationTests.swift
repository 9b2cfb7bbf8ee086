import IoTCore
import Logging
import Testing

@testable import iotvideod

@Suite struct ConfigurationTests {
    private static let defaults = DefaultPaths(environment: [:], isRoot: true)

    private func parse(_ text: String, file: String = "/etc/d/c.yaml") throws -> Configuration {
        try Configuration.parse(text, file: file, defaults: Self.defaults)
    }

    /// The lines of the error message.
    private func refusal(_ text: String) -> [String] {
        let error = #expect(throws: IoTError.self) { try parse(text) }
        #expect(error?.code == .invalidConfiguration)
        return error?.message.split(separator: "\n").map(String.init) ?? []
    }

    @Test(
        "An empty file, and sections without keys, are the defaults", arguments: ["", "# nothing\n", "hub:\nlog: ~\n"])
    func empty(text: String) throws {
        #expect(try parse(text) == Configuration(defaults: Self.defaults))
    }

    @Test("Every key is read; relative paths start at the file's directory")
    func everyKey() throws {
        let configuration = try parse(
            """
            dataDirectory: data
            socket: /run/s
            log: {level: debug}
            hub:
              enabled: true
              mosquitto: /opt/m
              listen: 127.0.0.1:1884
              tls: {listen: "[::]:8883", names: [Box.example, 192.0.2.1], certificateFile: c.pem, keyFile: k.pem}
            link: {accessId: gate_1, tokenFile: token, endpoint: "Hub.example:8883", certificateAuthorityFile: ca.pem}
            api:
              listen: 0.0.0.0:8443
              tls: true
              certificateFile: c.pem
              keyFile: k.pem
              allowedOrigins: ["https://Console.example:8443"]
              names: [box.example]
              requestTimeout: 5s
            media: {listen: "[::]:9000"}
            channels: {connections: 4, idleTimeout: 1500ms}
            definitions: {preferred: [superHD, mid, 360p]}
            cameras:
              - {name: clip, url: a.mp4, viewers: 2}
              - name: gate
                url: rtsp://192.0.2.7/x
                rtspTransport: udp
                username: viewer
                passwordFile: secret
            """)
        #expect(configuration.dataDirectory == "/etc/d/data")
        #expect(configuration.socket == "/run/s")
        #expect(configuration.log.level == .debug)
        let tls = Configuration.HubTLS(
            listen: ListenAddress(host: "::", port: 8883), names: ["box.example", "192.0.2.1"],
            certificateFile: "/etc/d/c.pem", keyFile: "/etc/d/k.pem")
        #expect(
            configuration.hub == .init(enabled: true, mosquitto: "/opt/m", listen: .loopback(port: 1884), tls: tls))
        let api = Configuration.API(
            listen: ListenAddress(host: "0.0.0.0", port: 8443), tls: true, certificateFile: "/etc/d/c.pem",
            keyFile: "/etc/d/k.pem", allowedOrigins: ["https://console.example:8443"], names: ["box.example"],
            requestTimeout: .seconds(5))
        #expect(configuration.api == api)
        #expect(configuration.link.accessId?.rawValue == "gate_1")
        #expect(configuration.link.tokenFile == "/etc/d/token")
        #expect(configuration.link.endpoint == .tcp(host: "hub.example", port: 8883))
        #expect(configuration.link.certificateAuthorityFile == "/etc/d/ca.pem")
        #expect(configuration.media.listen == ListenAddress(host: "::", port: 9000))
        #expect(configuration.channels == .init(connections: 4, idleTimeout: .milliseconds(1500)))
        #expect(configuration.definitions.preferred == ["superHD", "mid", "360p"])
        let cameras = configuration.cameras
        #expect(cameras.map(\.name) == ["clip", "gate"])
        #expect(cameras.map(\.source.url) == ["/etc/d/a.mp4", "rtsp://192.0.2.7/x"])
        #expect(cameras.map(\.viewers) == [2, 8])
        #expect(cameras[1].rtspTransport == .udp)
        #expect(cameras[1].passwordFile == "/etc/d/secret")
    }

    @Test("All problems are reported at once, each with file, line, key and reason")
    func allProblems() {
        let lines = refusal(
            """
            hub:
              lisen: unix
              enabled: yes
            channels:
              connections: "16"
            cameras:
              - name: front
            unknown: 1
            lgo: {level: info}
            hub.tsl: {}
            """)
        #expect(
            lines == [
                "/etc/d/c.yaml:2: hub.lisen: is not a known key; did you mean hub.listen?",
                "/etc/d/c.yaml:3: hub.enabled: must be true or false",
                "/etc/d/c.yaml:5: channels.connections: must be a whole number from 1 to 1024",
                "/etc/d/c.yaml:7: cameras[0].url: is missing",
                "/etc/d/c.yaml:8: unknown: is not a known key",
                "/etc/d/c.yaml:9: lgo: is not a known key; did you mean log?",
                "/etc/d/c.yaml:10: hub.tsl: is not a known key; did you mean hub.tls?",
            ])
    }

    @Test(
        "Invalid values are refused",
        arguments: [
            "log: {level: loud}", "media: {listen: localhost:1}", "media: {listen: '127.0.0.1'}",
            "media: {listen: '127.0.0.1:70000'}", "media: {listen: '::1:5'}", "hub: {listen: '0.0.0.0:1883'}",
            "hub: {listen: tcp}", "channels: {connections: 0}", "channels: {connections: 1.5}",
            "definitions: {preferred: mid}", "definitions: {preferred: [best]}", "definitions: {preferred: ['a b']}",
            "channels: {idleTimeout: 30}", "channels: {idleTimeout: 2h}", "channels: {idleTimeout: -1s}",
            "link: {accessId: Owner}", "link: {endpoint: '192.0.2.1', accessId: a, tokenFile: t}",
            "link: {endpoint: 'h:0', accessId: a, tokenFile: t}",
            "link: {endpoint: '::1:5', accessId: a, tokenFile: t}",
            "hub: {tls: {listen: '0.0.0.0:0'}}", "hub: {tls: {listen: 'box:8883'}}",
            "hub: {tls: {listen: '0.0.0.0:1', names: box}}", "hub: {tls: {listen: '0.0.0.0:1', names: ['a b']}}",
            "api: {listen: 8443}", "api: {listen: '127.0.0.1:8443', tls: yes}",
            "api: {listen: '127.0.0.1:1', allowedOrigins: ['*']}",
            "api: {listen: '127.0.0.1:1', allowedOrigins: ['https://a/b']}",
            "api: {listen: '127.0.0.1:1', allowedOrigins: ['https://1::2:80']}",
            "api: {listen: '127.0.0.1:1', allowedOrigins: ['https://a:0']}",
            "api: {listen: '127.0.0.1:1', names: [192.0.2.300]}", "api: {requestTimeout: 0s}",
            "dataDirectory: [a]", "dataDirectory:", "hub: 5", "cameras: front", "cameras: [front]", "- a",
            "cameras: [{name: 'a b', url: /x}]", "cameras: [{name: a, url: ''}]",
            "cameras: [{name: a, url: 'exec:ffmpeg'}]", "cameras: [{name: a, url: 'http://h/x'}]",
            "cameras: [{name: a, url: 'rtsp:///x'}]", "cameras: [{name: 00112233445566778899aabbccddeeff, url: /x}]",
        ])
    func wrongValues(text: String) {
        #expect(refusal(text).count == 1)
    }

    @Test(
        "Conflicting keys are refused, with the key to correct",
        arguments: [
            ("link: {accessId: a}", "link.accessId"), ("link: {tokenFile: t}", "link.tokenFile"),
            ("link: {endpoint: '127.0.0.1:1'}", "link.endpoint"),
            ("hub: {enabled: false, tls: {listen: '0.0.0.0:1'}}", "hub.tls.listen"),
            ("link: {endpoint: '192.0.2.1:1883', accessId: a, tokenFile: t}", "link.endpoint"),
            ("link: {certificateAuthorityFile: c}", "link.certificateAuthorityFile"),
            (
                "link: {endpoint: 'unix:/b', accessId: a, tokenFile: t, certificateAuthorityFile: c}",
                "link.certificateAuthorityFile"
            ),
            ("hub: {tls: {names: [a]}}", "hub.tls.names"),
            ("hub: {tls: {listen: '0.0.0.0:1', certificateFile: c}}", "hub.tls.certificateFile"),
            ("hub: {tls: {listen: '0.0.0.0:1', keyFile: k}}", "hub.tls.keyFile"),
            ("hub: {listen: '127.0.0.1:5', tls: {listen: '0.0.0.0:5'}}", "hub.tls.listen"),
            ("api: {names: [a]}", "api.names"), ("api: {tls: true}", "api.tls"),
            ("api: {allowedOrigins: ['http://a']}", "api.allowedOrigins"),
            ("api: {listen: '127.0.0.1:1', certificateFile: c, keyFile: k}", "api.certificateFile"),
            ("api: {listen: '0.0.0.0:1', certificateFile: c}", "api.certificateFile"),
            ("hub: {listen: '127.0.0.1:5'}\napi: {listen: '0.0.0.0:5'}", "api.listen"),
            ("hub: {tls: {listen: '192.0.2.1:5'}}\napi: {listen: '192.0.2.1:5'}", "api.listen"),
            ("rtsp: {tls: true}", "rtsp.tls"), ("rtsp: {udpPort: 8000}", "rtsp.udpPort"),
            ("rtsp: {listen: '0.0.0.0:1', udpPort: 8000}", "rtsp.udpPort"),
            ("hub: {listen: '127.0.0.1:5'}\nrtsp: {listen: '0.0.0.0:5'}", "rtsp.listen"),
            ("api: {listen: '0.0.0.0:5'}\nrtsp: {listen: '192.0.2.1:5'}", "rtsp.listen"),
            ("rtsp: {listen: '0.0.0.0:5'}\nlan: {listen: '192.0.2.1:5'}", "lan.listen"),
            ("cameras: [{name: a, url: /x, rtspTransport: udp}]", "cameras[0].rtspTransport"),
            ("cameras: [{name: a, url: 'rtsp://h/', passwordFile: p}]", "cameras[0].passwordFile"),
            ("cameras: [{name: a, url: 'rtsp://u@h/', username: v}]", "cameras[0].username"),
            ("cameras: [{name: a, url: /x}, {name: a, url: /y}]", "cameras[1].name"),
        ])
    func combinations(text: String, key: String) {
        #expect(refusal(text).map { $0.split(separator: ": ")[1] } == [Substring(key)])
    }

    @Test("A repeated key is refused")
    func duplicateKey() {
        #expect(refusal("socket: /a\nsocket: /b\n").first?.hasSuffix("socket: appears twice in one mapping") == true)
    }

    @Test("Invalid YAML is refused with its line")
    func damagedFile() {
        #expect(
            refusal("log:\n  level: [info\nhub: {}\n").first?.hasPrefix("/etc/d/c.yaml:3: is not valid YAML here")
                == true)
    }

    @Test("A missing file is reported")
    func missingFile() {
        let error = #expect(throws: IoTError.self) {
            try Configuration.load(file: "/nonexistent/c.yaml", defaults: Self.defaults)
        }
        #expect(error?.code == .fileFailed)
    }
}
