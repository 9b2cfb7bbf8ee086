import IoTCore
import NetConfig
import TestSupport
import Testing

@Suite struct ScannedCodeTests {
    private func read(_ text: String) throws -> ScannedCode { try ScannedCode(Array(text.utf8)) }

    @Test("Codes that others publish are told apart and read")
    func published() throws {
        // ZXing, core/src/test/java/com/google/zxing/client/result/WifiParsedResultTestCase.java
        #expect(
            try read("WIFI:S:TenChars;P:space is silent;T:WPA;;")
                == .network(.init(ssid: "TenChars", password: "space is silent"), .wifi))
        #expect(try read("WIFI:S:NoPassword;P:;T:;;") == .network(.init(ssid: "NoPassword"), .wifi))
        #expect(
            try read(#"WIFI:S:TenChars;P:hello\:there;T:WPA;;"#)
                == .network(.init(ssid: "TenChars", password: "hello:there"), .wifi))
        // WPA3 specification §7.3, both examples
        #expect(
            try read("WIFI:T:WPA;S:MyNet;P:MyPassword;;")
                == .network(.init(ssid: "MyNet", password: "MyPassword"), .wifi))
        #expect(
            try read("WIFI:T:WPA;R:1;S:MyNet;P:MyPassword;;")
                == .network(.init(ssid: "MyNet", password: "MyPassword"), .wifi))
        // The text form's documentation
        #expect(try read("007HomeNet108password") == .network(.init(ssid: "HomeNet", password: "password"), .tlv))
        // https://github.com/TencentCloud-IoT family of SDKs: {"s","p","t"}
        #expect(
            try read(#"{"s":"HomeNet","p":"password","t":"tok"}"#)
                == .network(.init(ssid: "HomeNet", password: "password", token: "tok"), .json))
        // Made up: the binary form's magic, kind and shape are published, an example is not.
        #expect(
            try ScannedCode(Array("IVQR".utf8) + [1, 0, 1, 0x61, 1, 8] + Array("password".utf8))
                == .network(.init(ssid: "a", password: "password"), .binary))
    }

    @Test("Espressif's labels are read and written as its own example prints them")
    func label() throws {
        // esp-idf, examples/provisioning/wifi_prov_mgr/main/app_main.c: wifi_prov_print_qr, with and without username
        let second = #"{"ver":"v1","name":"PROV_CE03C0","username":"wifiprov","pop":"abcd1234","transport":"softap"}"#
        let first = #"{"ver":"v1","name":"PROV_CE03C0","pop":"abcd1234","transport":"ble"}"#
        let label = EspressifLabel(name: "PROV_CE03C0", username: "wifiprov", proof: "abcd1234")
        #expect(try read(second) == .label(label))
        #expect(label.text == second)
        #expect(
            try read(first) == .label(EspressifLabel(name: "PROV_CE03C0", proof: "abcd1234", transport: .ble)))
        // Newer firmware says more: the network's kind, which is ignored, and the security.
        let newer = #"{"ver":"v1","name":"PROV_1","pop":"x","transport":"softap","security":2,"network":"wifi"}"#
        #expect(try read(newer) == .label(EspressifLabel(name: "PROV_1", proof: "x", security: 2)))
        for wrong in [
            #"{"ver":"v2","name":"a","transport":"ble"}"#, #"{"ver":"v1","transport":"ble"}"#,
            #"{"ver":"v1","name":"a","transport":"usb"}"#, #"{"ver":"v1","name":"a","transport":"ble","security":3}"#,
            #"{"ver":"v1","name":"a","transport":"ble","pop":1}"#,
        ] {
            let error = try #require(throws: IoTError.self) { _ = try read(wrong) }
            #expect(error.code == .invalidQRInput)
        }
    }

    @Test("DPP addresses are read as hostap reads them")
    func dpp() throws {
        // hostap, tests/hwsim/test_dpp.py: test_dpp_qr_code_parsing and test_dpp_qr_code_parsing_fail
        let key = "MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADM2206avxHJaHXgLMkq/24e0rsrfMP9K1Tm8gx+ovP0I="
        guard case .dpp(let first) = try read("DPP:C:81/1,115/36;K:\(key);;") else {
            Issue.record("not DPP")
            return
        }
        #expect(first.channels == ["81/1", "115/36"] && first.mac == nil && first.key.count == 59)
        // The bytes of a SubjectPublicKeyInfo on P-256, compressed (RFC 5480 §2).
        #expect(Hex.encode(first.key.prefix(4)) == "30393013")
        guard case .dpp(let second) = try read("DPP:I:SN=4774LH2b4044;M:010203040506;K:\(key);;") else {
            Issue.record("not DPP")
            return
        }
        #expect(second.information == "SN=4774LH2b4044" && second.mac == "010203040506")
        // prplMesh's test code writes the address with colons.
        guard case .dpp(let third) = try read("DPP:C:81/1;M:2c:d0:5a:6e:ca:3c;I:KYZRQ;V:2;X:new;K:\(key);;") else {
            Issue.record("not DPP")
            return
        }
        #expect(third.mac == "2cd05a6eca3c" && third.version == 2)
        for wrong in [
            "DPP:", "DPP:;;", "DPP:C:1;K:\(key);;", "DPP:M:01020304050;K:\(key);;", "DPP:K:\(key)", "DPP:K:;;",
            "DPP:V:x;K:\(key);;", "DPP:K:\(key);K:\(key);;",
        ] {
            let error = try #require(throws: IoTError.self, "\(wrong)") { _ = try read(wrong) }
            #expect(error.code == .invalidQRInput)
        }
    }

    @Test("Networks of any Unicode come back byte by byte from each form", arguments: ProvisioningFormat.allCases)
    func anyText(format: ProvisioningFormat) throws {
        var random = SeededGenerator(seed: 0x0513)
        for round in 0..<3_000 {
            var payload = ProvisioningPayload(ssid: random.text(of: 1...32))
            if round % 8 != 0 { payload.password = random.text(of: 8...63) }
            switch format {
            case .wifi, .wpa3: payload.isHidden = Bool.random(using: &random)
            case .tlv, .json, .binary:
                payload.token = random.text(of: 1...40)
                payload.hub = "iotlink://192.168.1.10:8883?ca=x"
                payload.language = "pt-BR"
                payload.extras = ["A": random.text(of: 0...40), "Z": random.text(of: 0...4), "7": ""]
            }
            let bytes = try payload.encoded(as: format)
            guard case .network(let again, let found) = try ScannedCode(bytes) else {
                Issue.record("another kind: \(bytes)")
                return
            }
            #expect(found == (format == .wpa3 ? .wifi : format))
            #expect(again == payload)
            #expect(Array(again.ssid.utf8) == Array(payload.ssid.utf8), "\(bytes)")
            #expect(Array(again.password.utf8) == Array(payload.password.utf8), "\(bytes)")
            #expect(again.token.map { Array($0.utf8) } == payload.token.map { Array($0.utf8) }, "\(bytes)")
        }
    }

    @Test("Labels of any Unicode come back")
    func anyLabel() throws {
        var random = SeededGenerator(seed: 0x0513)
        for _ in 0..<1_000 {
            let label = EspressifLabel(
                name: random.text(of: 1...20), username: random.text(of: 0...20), proof: random.text(of: 0...40),
                transport: EspressifLabel.Transport.allCases.randomElement(using: &random) ?? .ble,
                security: Int.random(in: 0...2, using: &random), password: random.text(of: 0...63))
            #expect(try read(label.text) == .label(label))
        }
    }

    @Test("No refusal repeats anything of the code, which may be a password")
    func secrets() throws {
        let secret = "hunter2hunter2"
        let codes = [
            "WIFI:T:WPA;S:a;P:b;\(secret):c;\(secret):d;;", "WIFI:S:a;P:\(secret)", "WIFI:S:a;P:\(secret)\\",
            "WIFI:\(secret)", "00a\(secret)", "001a10e\(secret)10e\(secret)", #"{"s":"a","p":["\#(secret)"]}"#,
            #"{"s":"\#(secret)"#, #"{"s":"a","p":"\#(secret)","h":"\#(secret)"}"#,
            #"{"s":"a","l":"\#(secret) \#(secret)"}"#, #"{"s":"a","x":{"\#(secret)":"b"}}"#,
            #"{"s":"a","x":{"ä":"\#(secret)"}}"#, "DPP:K:\(secret)!;;", "DPP:\(secret);;",
            #"{"ver":"v1","name":"a","transport":"\#(secret)"}"#, "\(secret)", "IVQR\(secret)",
            "001a13f\(String(repeating: secret, count: 6))",
        ]
        for code in codes {
            let error = try #require(throws: IoTError.self, "\(code)") { _ = try read(code) }
            #expect(!"\(error) \(error.message) \(error.remedy)".contains("hunter2"), "\(error)")
        }
    }
}
