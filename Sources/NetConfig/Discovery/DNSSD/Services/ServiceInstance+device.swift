import IoTCore

extension ServiceInstance {
    /// What the service says about its device.
    public var device: DiscoveredDevice {
        let mac = (text["macaddr"] ?? text["macaddress"] ?? text["mac"]).flatMap(Self.macAddress)
        var device = DiscoveredDevice(
            name: key.name, macAddress: mac, addresses: addresses, serviceURLs: serviceURLs, foundBy: [.dnsSD])
        device.version = text["version"]
        switch key.type {
        case .iotlink:
            device.deviceID = text["deviceid"]
            device.productID = text["productid"]
            device.serialNumber = text["serialnumber"]
            device.hasOwner = ["1": true, "0": false][text["hasowner"] ?? ""]
        case .axisVideo:
            device.manufacturer = "Axis"
            // An Axis camera's serial number is its MAC address without separators.
            device.serialNumber = mac?.replacing(":", with: "").uppercased()
        case .rtsp:
            device.manufacturer = text["manufacturer"]
            device.model = text["model"]
            device.serialNumber = text["serialnumber"] ?? text["serial"]
        }
        device.identities = Set(
            [
                device.deviceID.map { "device:\($0)" }, mac.map { "mac:\($0)" },
                device.serialNumber.map { "serial:\($0)" },
                // No two services of a network have the same, so that one that says nothing else is told apart.
                "service:\(key.name).\(key.type.rawValue)",
            ].compactMap { $0 })
        return device
    }

    private var serviceURLs: [String] {
        switch key.type {
        case .iotlink: []
        case .rtsp:
            addresses.map { address in
                let path = (text["path"] ?? "").drop { $0 == "/" }
                return "rtsp://\(address.urlHost)\(port == 554 ? "" : ":\(port)")/\(Self.urlPath(path))"
            }
        case .axisVideo: addresses.map { "http://\($0.urlHost)\(port == 80 ? "" : ":\(port)")/" }
        }
    }

    /// A stranger's path: what may not stand in a URL is written in hexadecimal (RFC 3986 §3.3, §3.4).
    private static func urlPath(_ path: some StringProtocol) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?%".utf8)
        return path.utf8.map { byte in
            allowed.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// `aa:bb:cc:dd:ee:ff` out of twelve hex digits, with or without separators; `nil` for anything else.
    static func macAddress(_ text: String) -> String? {
        let digits = text.lowercased().filter { $0 != ":" && $0 != "-" && $0 != "." }
        guard digits.utf8.count == 12, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        let characters = Array(digits)
        return stride(from: 0, to: 12, by: 2).map { String(characters[$0...($0 + 1)]) }.joined(separator: ":")
    }
}
