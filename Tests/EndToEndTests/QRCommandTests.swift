import Foundation
import Testing

/// `iotctl net qr` as a process without a daemon; zbarimg reads its codes.
@Suite(.timeLimit(.minutes(2))) struct QRCommandTests {
    struct Network: Sendable, CustomTestStringConvertible {
        let ssid: String
        /// Empty for an open network.
        let password: String
        /// Written out, because the test must not use the encoder's own rules.
        let tlv: String
        let wifi: String

        var testDescription: String { ssid }

        func text(_ format: String) -> String { format == "tlv" ? tlv : wifi }
    }

    static let networks = [
        Network(
            ssid: #"Say "Hi"; \o/"#, password: #"q"u;o\te,:"#, tlv: #"00dSay "Hi"; \o/10aq"u;o\te,:"#,
            wifi: #"WIFI:T:WPA;S:Say \"Hi\"\; \\o/;P:q\"u\;o\\te\,\:;;"#),
        Network(
            ssid: "100% sure %20", password: " two  spaces ", tlv: "00d100% sure %2010d two  spaces ",
            wifi: "WIFI:T:WPA;S:100% sure %20;P: two  spaces ;;"),
        Network(
            ssid: "家里的无线网 5G", password: #"密码;"\%20"#, tlv: #"015家里的无线网 5G10c密码;"\%20"#,
            wifi: #"WIFI:T:WPA;S:家里的无线网 5G;P:密码\;\"\\%20;;"#),
        Network(
            ssid: "O'Neil's $(x) `y`", password: "WIFI:S:x;;", tlv: "011O'Neil's $(x) `y`10aWIFI:S:x;;",
            wifi: #"WIFI:T:WPA;S:O'Neil's $(x) `y`;P:WIFI\:S\:x\;\;;;"#),
        Network(ssid: "open", password: "", tlv: "004open2010", wifi: "WIFI:T:nopass;S:open;;"),
    ]

    private func qr(_ arguments: [String], input: String? = nil) async throws -> Program.Outcome {
        try await Program(
            path: Product.program("iotctl"), arguments: ["net", "qr"] + arguments,
            environment: ["IOTCTL_SOCKET": "/nonexistent/socket"], input: input.map { Data($0.utf8) }
        ).run()
    }

    @Test(
        "zbarimg reads exactly the network from the file, which only its owner may read",
        arguments: ["tlv", "wifi", "json"], networks)
    func file(format: String, network: Network) async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("qr.png")
        // The permissions are also restricted if the file exists and everyone may read it.
        _ = FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o644])
        let secret = network.password.isEmpty ? [] : ["--password-file", "-"]
        let outcome = try await qr(
            ["--ssid", network.ssid, "--format", format, "--out", file] + secret, input: network.password + "\n")
        try #require(outcome.status == 0, "\(outcome.errors)")
        #expect(!outcome.text.contains(network.password) || network.password.isEmpty)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let read = try await QRReader.read(file)
        if format == "json" {
            let object = try JSONSerialization.jsonObject(with: Data(read.utf8)) as? [String: String]
            #expect(object == ["s": network.ssid, "p": network.password])
        } else {
            #expect(read == network.text(format))
        }
    }

    @Test("The password may be in a file or an argument; the code can contain a token and a hub")
    func sources() async throws {
        let folder = try TemporaryFolder()
        let secret = folder.path("secret")
        try #"p;a"ss\word"#.write(toFile: secret, atomically: true, encoding: .utf8)
        for source in [["--password-file", secret], ["--password", #"p;a"ss\word"#]] {
            let outcome = try await qr(
                ["--ssid", "x", "--token", "t0k", "--hub", "iotlink://192.0.2.1:8883", "--out", folder.path("a.png")]
                    + source)
            try #require(outcome.status == 0, "\(outcome.errors)")
            #expect(
                try await QRReader.read(folder.path("a.png"))
                    == #"001x10bp;a"ss\word503t0k618iotlink://192.0.2.1:8883"#)
        }
    }

    @Test("Language and extras are included; a custom payload is encoded byte by byte; all are read back")
    func more() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("qr.png")
        let made = try await qr(
            [
                "--ssid", "x", "--password", "12345678", "--language", "zh-CN", "--extra", "A=a=b", "--extra", "7=",
                "--token-file", "-", "--out", file,
            ], input: "t0k\n")
        try #require(made.status == 0, "\(made.errors)")
        #expect(try await QRReader.read(file) == "001x108123456784" + "05zh-CN503t0k700A03a=b")
        let hidden = try await qr(["--read", file])
        #expect(hidden.status == 0 && hidden.text.contains("ssid: x\n") && hidden.text.contains("language: zh-CN"))
        #expect(!hidden.text.contains("12345678") && !hidden.text.contains("t0k"), "\(hidden.text)")
        let revealed = try await qr(["--read", file, "--reveal", "--json"])
        let object = try JSONSerialization.jsonObject(with: revealed.output) as? [String: String]
        #expect(
            object == [
                "format": "tlv", "ssid": "x", "password": "12345678", "token": "t0k", "language": "zh-CN",
                "extra A": "a=b", "extra 7": "",
            ])

        let own = folder.path("own")
        let bytes = Data((0...255).map { UInt8($0) })
        try bytes.write(to: URL(fileURLWithPath: own))
        let code = try await qr(["--payload", own, "--out", file, "--json"])
        let described = try JSONSerialization.jsonObject(with: code.output) as? [String: Any]
        #expect(code.status == 0 && described?["payload"] is NSNull, "\(code.text)")
        let read = try await Program.named("zbarimg", ["--raw", "-q", "-Sbinary", file]).run()
        #expect(read.output == bytes)
        let refused = try await qr(["--read", file])
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 25012"), "\(refused.errors)")
        for wrong in [
            ["--payload", own, "--ssid", "x", "--out", file], ["--out", file], ["--read", file, "--out", file],
            ["--ssid", "x", "--extra", "AB=c", "--out", file], ["--ssid", "x", "--reveal", "--out", file],
            ["--ssid", "x", "--extra", "A=1", "--extra", "A=2", "--out", file],
        ] {
            #expect(try await qr(wrong).status == 2, "\(wrong)")
        }
    }

    @Test("The programs start without zbar: it is loaded when a picture is read")
    func unlinked() async throws {
        for program in ["iotctl", "iotvideod"] {
            let needed = try await Program.named("objdump", ["-p", Product.program(program)]).run()
            #expect(needed.status == 0 && needed.text.contains("NEEDED") && !needed.text.contains("zbar"))
        }
    }

    @Test("The terminal's blocks contain the code and its quiet zone, and zbarimg reads them", arguments: networks)
    func terminal(network: Network) async throws {
        let folder = try TemporaryFolder()
        let secret = network.password.isEmpty ? [] : ["--password", network.password]
        let common = ["--ssid", network.ssid, "--format", "wifi"] + secret
        let described = try await qr(common + ["--out", folder.path("qr.png"), "--json"])
        let description = try JSONSerialization.jsonObject(with: described.output) as? [String: Any]
        let version = try #require(description?["version"] as? Int)
        let outcome = try await qr(common + ["--terminal"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        try await check(outcome.text, version: version, is: network.wifi)
    }

    /// ISO/IEC 18004 §7.3: a side has 17 + 4 × version modules, with a margin of 4 light ones.
    private func check(_ text: String, version: Int, is expected: String) async throws {
        let drawn = try QRReader.modules(text)
        let width = 17 + 4 * version + 8
        #expect(drawn.allSatisfy { $0.count == width })
        // The lower half of the last row's characters is below the code.
        #expect(drawn.count == width + 1)
        let modules = Array(drawn.prefix(width))
        for (row, line) in modules.enumerated() {
            let isMargin = row < 4 || row >= width - 4
            #expect(isMargin ? line.allSatisfy { $0 } : (line.prefix(4) + line.suffix(4)).allSatisfy { $0 }, "\(row)")
        }
        #expect(try await QRReader.read(modules: modules) == expected)
    }

    @Test("On a terminal it sets its own colours, with white for light modules")
    func colours() async throws {
        let command = "'\(Product.program("iotctl"))' net qr --ssid home --password 12345678 --format wifi --terminal"
        // util-linux's script runs the command on a terminal, and copies its output to this test.
        let outcome = try await Program.named("script", ["-q", "-e", "-c", command, "/dev/null"]).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.text.split(whereSeparator: \.isNewline)
        let white = "\u{1B}[38;5;231;48;5;16m"
        try #require(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix(white) && $0.hasSuffix("\u{1B}[0m") })
        let blocks = lines.map { $0.dropFirst(white.count).dropLast(4) }.joined(separator: "\n")
        try await check(blocks, version: 3, is: "WIFI:T:WPA;S:home;P:12345678;;")
    }

    @Test("Over 150 bytes it warns on standard error and still makes the code")
    func warning() async throws {
        let folder = try TemporaryFolder()
        for (length, hexLength, isLong) in [(129, "81", false), (130, "82", true)] {
            let token = String(repeating: "t", count: length)
            let outcome = try await qr([
                "--ssid", "home", "--password", "12345678", "--token", token, "--out", folder.path("qr.png"),
            ])
            #expect(outcome.status == 0)
            // The other fields have 21 bytes.
            #expect(outcome.errors.hasPrefix("warning: the payload has 151 bytes") == isLong, "\(outcome.errors)")
            #expect(outcome.errors.isEmpty == !isLong, "\(outcome.errors)")
            #expect(!outcome.text.contains("warning"))
            #expect(try await QRReader.read(folder.path("qr.png")) == "004home108123456785\(hexLength)\(token)")
        }
    }

    @Test(
        "Values that no camera accepts are refused with the reason, and no file is written",
        arguments: [
            (["--ssid", "", "--password", "12345678"], "ssid: it is empty"),
            // 33 bytes in 11 characters.
            (["--ssid", "家里的无线网家里的无线", "--password", "12345678"], "ssid: it has 33 bytes"),
            (["--ssid", "home", "--password", "1234567"], "password: it has 7 bytes"),
            (["--ssid", "home", "--password", "1234567\n"], "password: it holds a control character"),
            (["--ssid", "home", "--token", "x", "--format", "wifi"], "token: "),
        ])
    func refused(arguments: [String], reason: String) async throws {
        let folder = try TemporaryFolder()
        let outcome = try await qr(arguments + ["--out", folder.path("qr.png")])
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("error 25012 invalidQRInput: ") && outcome.errors.contains(reason))
        #expect(outcome.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.path("qr.png")))
    }

    @Test("An empty password from standard input does not mean an open network")
    func emptySecret() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await qr(
            ["--ssid", "home", "--password-file", "-", "--out", folder.path("qr.png")], input: "\n")
        #expect(outcome.status == 1 && outcome.errors.hasPrefix("error "), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("qr.png")))
    }
}
