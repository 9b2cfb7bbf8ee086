import IoTCore
import NetConfig
import Testing

@Suite struct ProvisioningQRCodeTests {
    @Test(
        "zbarimg reads exactly the payload, for every awkward name and password",
        arguments: ProvisioningFormat.allCases, awkwardTexts)
    func scanned(format: ProvisioningFormat, text: String) throws {
        let password = text.utf8.count < 8 ? text + text : text
        let payload = ProvisioningPayload(ssid: text, password: password)
        let result = try ProvisioningQRCode.make(payload: payload, format: format, size: 400)
        let bytes = try scan(result.png)
        #expect(bytes == result.content)
        #expect(try ProvisioningPayload(decoding: bytes, as: format) == payload)
    }

    @Test("A full payload is read at the default size")
    func full() throws {
        let payload = ProvisioningPayload(
            ssid: "前门 Wi-Fi", password: #"p;a:s\s"w,%20"#, token: "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
            hub: "iotlink://192.168.1.10:8883", language: "zh-CN")
        let result = try ProvisioningQRCode.make(payload: payload)
        #expect(result.warnings.isEmpty)
        #expect(try scan(result.png) == result.content)
    }

    @Test("Over 150 bytes warns and still works; what does not fit is 25013")
    func sizes() throws {
        let long = ProvisioningPayload(ssid: "x", password: "12345678", token: String(repeating: "t", count: 140))
        let result = try ProvisioningQRCode.make(payload: long)
        #expect(result.warnings.contains { $0.contains("150") })
        #expect(try scan(result.png) == result.content)
        let tooLong = ProvisioningPayload(ssid: "x", password: "12345678", token: String(repeating: "t", count: 3000))
        let error = try #require(throws: IoTError.self) {
            _ = try ProvisioningQRCode.make(payload: tooLong, format: .json)
        }
        #expect(error.code == .payloadTooLarge)
    }

    @Test("What may not work with every device is warned of")
    func warnings() throws {
        let spaces = try ProvisioningQRCode.make(payload: .init(ssid: " x", password: "12345678"))
        #expect(spaces.warnings.contains { $0.hasPrefix("ssid") })
        let chinese = try ProvisioningQRCode.make(payload: .init(ssid: "x", password: "密码密码"))
        #expect(chinese.warnings.contains { $0.hasPrefix("password") })
        let small = try ProvisioningQRCode.make(payload: .init(ssid: "x", password: "12345678"), size: 60)
        #expect(small.warnings.contains { $0.contains("pixels") })
    }
}
