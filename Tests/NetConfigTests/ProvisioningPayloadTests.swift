import IoTCore
import NetConfig
import TestSupport
import Testing

@Suite struct ProvisioningPayloadTests {
    @Test("The compact TLV text is the documented one")
    func tlvVector() throws {
        // The published example of the format.
        let payload = ProvisioningPayload(ssid: "HomeNet", password: "password")
        #expect(try payload.text(as: .tlv) == "007HomeNet108password")
    }

    @Test("TLV lengths count UTF-8 bytes, in two hex digits; an open network says so")
    func tlvLengths() throws {
        #expect(try ProvisioningPayload(ssid: "家里的网").text(as: .tlv) == "00c家里的网2010")
        let full = ProvisioningPayload(
            ssid: "a", password: "12345678", token: "tok", hub: "iotlink://h:1", language: "zh-CN",
            extras: ["Z": "", "A": "x", "7": "y"])
        #expect(
            try full.text(as: .tlv) == "001a108123456784" + "05zh-CN503tok60diotlink://h:1701yA01xZ00")
    }

    @Test("The WIFI address has a backslash before each special character (ZXing's rule)")
    func wifiVector() throws {
        let payload = ProvisioningPayload(ssid: #"a;b,c:d\e"f"#, password: "100% 密码", isHidden: true)
        #expect(try payload.text(as: .wifi) == #"WIFI:T:WPA;S:a\;b\,c\:d\\e\"f;P:100% 密码;H:true;;"#)
        #expect(try ProvisioningPayload(ssid: "x").text(as: .wifi) == "WIFI:T:nopass;S:x;;")
    }

    @Test("The JSON has the documented keys, in order")
    func jsonVector() throws {
        let payload = ProvisioningPayload(ssid: #"a"b\"#, password: "12345678", token: "t")
        #expect(try payload.text(as: .json) == #"{"s":"a\"b\\","p":"12345678","t":"t"}"#)
    }

    @Test("What is written is read back, in each format", arguments: ProvisioningFormat.allCases, awkwardTexts)
    func roundTrip(format: ProvisioningFormat, text: String) throws {
        var payload = ProvisioningPayload(ssid: text, password: text.utf8.count < 8 ? text + text : text)
        switch format {
        case .wifi, .wpa3: payload.isHidden = true
        case .tlv, .json, .binary:
            payload.token = text
            payload.hub = "iotlink://192.168.1.10:8883?x=1"
            payload.language = "zh-CN"
            payload.extras = ["A": text, "Z": "", "3": "u"]
        }
        let read = try ProvisioningPayload(decoding: payload.encoded(as: format), as: format)
        #expect(read == payload)
    }

    @Test("Random texts are read back, in each format", arguments: ProvisioningFormat.allCases)
    func property(format: ProvisioningFormat) throws {
        var random = SeededGenerator(seed: 0x5EED)
        let alphabet = Array(#"\;,":%SPTHRIK 0a家é🏠'{}[]"#)
        for _ in 0..<2000 {
            let ssid = String(
                (0..<Int.random(in: 1...8, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
            let password = String(
                (0..<Int.random(in: 8...15, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
            let payload = ProvisioningPayload(ssid: ssid, password: password)
            let read = try ProvisioningPayload(decoding: payload.encoded(as: format), as: format)
            #expect(read == payload)
        }
    }

    @Test("Text of strangers is refused or read, and never traps", arguments: ProvisioningFormat.allCases)
    func hostile(format: ProvisioningFormat) throws {
        var random = SeededGenerator(seed: 1)
        let pieces = [
            "WIFI:", "S:", "P:", ";", "\\", "%", "\"", "0", "ff", "1", "{", "}", "家", "\"s\":", "R:1;", "%4", ":",
            "IVQR\u{1}", "\u{0}\u{2}", "\u{1}\u{8}", "DPP:", "K:AA==;",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            do { _ = try ProvisioningPayload(decoding: Array(text.utf8), as: format) } catch {
                #expect(error.code == .invalidQRInput)
            }
        }
    }

    @Test("Percent-encoding is read only where a field of WPA3's own is present; quotes around a value are taken off")
    func foreignWifiTexts() throws {
        let wpa3 = try ProvisioningPayload(decoding: Array("WIFI:T:WPA;R:1;S:My%20Net%3B;P:a%25b;;".utf8), as: .wifi)
        #expect(wpa3.ssid == "My Net;")
        #expect(wpa3.password == "a%b")
        let zxing = try ProvisioningPayload(
            decoding: Array(#"WIFI:S:"My%20Net";P:\"a\";T:WPA;;"#.utf8), as: .wifi)
        #expect(zxing.ssid == "My%20Net")
        #expect(zxing.password == #""a""#)
        #expect(try ProvisioningPayload(decoding: Array("WIFI:T:nopass;S:x;P:;;".utf8), as: .wifi).password == "")
    }

    @Test(
        "Malformed texts are refused",
        arguments: [
            ("", ProvisioningFormat.tlv), ("0", .tlv), ("00", .tlv), ("007Home", .tlv), ("0zzHome", .tlv),
            ("108password", .tlv),
            ("001a001b", .tlv), ("001a2012", .tlv), ("003家", .wifi), ("WIFI:", .wifi), ("WIFI:S:x", .wifi),
            ("WIFI:S:x\\", .wifi), ("WIFI:S:;;", .wifi), ("WIFI:S:a;S:b;;", .wifi), ("WIFI:R:1;S:%4;;", .wifi),
            ("{}", .json), (#"{"s":1}"#, .json), (#"{"s":"a","p":1}"#, .json), (#"{"s":"a","x":{"AB":"c"}}"#, .json),
            ("[", .json), ("IVQR", .binary), ("IVQR\u{2}\u{0}\u{1}a", .binary), ("IVQR\u{1}", .binary),
            ("IVQR\u{1}\u{0}", .binary), ("IVQR\u{1}\u{0}\u{2}a", .binary),
            ("IVQR\u{1}\u{0}\u{1}a\u{B}\u{0}", .binary),
            ("IVQR\u{1}\u{0}\u{1}a\u{0}\u{1}b", .binary),
        ])
    func malformed(text: String, format: ProvisioningFormat) throws {
        let error = try #require(throws: IoTError.self) {
            _ = try ProvisioningPayload(decoding: Array(text.utf8), as: format)
        }
        #expect(error.code == .invalidQRInput)
    }

    @Test("A wrong field is refused with 25012 and its name")
    func validation() throws {
        let good = "12345678"
        let cases: [(ProvisioningPayload, String)] = [
            (.init(ssid: ""), "ssid"), (.init(ssid: String(repeating: "x", count: 33)), "ssid"),
            (.init(ssid: String(repeating: "家", count: 11)), "ssid"), (.init(ssid: "a\nb"), "ssid"),
            (.init(ssid: "x", password: "1234567"), "password"),
            (.init(ssid: "x", password: String(repeating: "x", count: 64)), "password"),
            (.init(ssid: "x", password: String(repeating: "a", count: 65)), "password"),
            (.init(ssid: "x", password: "1234567\u{0}"), "password"),
            (.init(ssid: "x", password: good, token: ""), "token"),
            (.init(ssid: "x", password: good, hub: "192.168.1.1"), "hub"),
            (.init(ssid: "x", password: good, hub: "iotlink://a b"), "hub"),
            (.init(ssid: "x", password: good, language: "zh CN"), "language"),
            (.init(ssid: "x", password: good, extras: ["a": "x"]), "extras"),
            (.init(ssid: "x", password: good, extras: ["0": "x"]), "extras"),
        ]
        for (payload, field) in cases {
            let error = try #require(throws: IoTError.self) { _ = try payload.encoded(as: .tlv) }
            #expect(error.code == .invalidQRInput)
            #expect(error.message.hasPrefix(field), "\(error.message)")
        }
    }

    @Test(
        "The edges are allowed: 32 bytes of name, 8 and 63 of password, a key of 64 hex digits, Chinese",
        arguments: [
            (String(repeating: "x", count: 32), "12345678"), ("x", String(repeating: "y", count: 63)),
            ("x", String(repeating: "aF", count: 32)), ("x", "密码密"), ("x", String(repeating: "密", count: 21)),
            (" ", ""),
        ])
    func edges(ssid: String, password: String) throws {
        try ProvisioningPayload(ssid: ssid, password: password).validate()
    }

    @Test("A field that the format cannot carry is refused by name, not dropped")
    func unsupported() throws {
        let cases: [(ProvisioningPayload, ProvisioningFormat, String)] = [
            (.init(ssid: "x", token: "t"), .wifi, "token"), (.init(ssid: "x", hub: "a://b"), .wifi, "hub"),
            (.init(ssid: "x", language: "en"), .wifi, "language"),
            (.init(ssid: "x", extras: ["A": "b"]), .wifi, "extras"),
            (.init(ssid: "x", isHidden: true), .tlv, "hidden"), (.init(ssid: "x", isHidden: true), .json, "hidden"),
            (.init(ssid: "x", isHidden: true), .binary, "hidden"), (.init(ssid: "x", token: "t"), .wpa3, "token"),
        ]
        for (payload, format, field) in cases {
            let error = try #require(throws: IoTError.self) { _ = try payload.encoded(as: format) }
            #expect(error.code == .invalidQRInput)
            #expect(error.message.hasPrefix(field))
        }
    }

    @Test("A field that two hex digits cannot measure does not fit: 25013")
    func tlvTooLong() throws {
        let fits = ProvisioningPayload(ssid: "x", token: String(repeating: "t", count: 255))
        #expect(try fits.text(as: .tlv).contains("5ffttt"))
        let error = try #require(throws: IoTError.self) {
            _ = try ProvisioningPayload(ssid: "x", token: String(repeating: "t", count: 256)).encoded(as: .tlv)
        }
        #expect(error.code == .payloadTooLarge)
        #expect(error.message.hasPrefix("token"))
    }
}
