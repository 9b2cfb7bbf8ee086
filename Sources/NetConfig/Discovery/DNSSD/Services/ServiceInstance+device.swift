import IoTCore

extension ServiceInstance {
    /// The device that the service describes.
    public var device: DiscoveredDevice {
        let mac = (text["macaddr"] ?? text["macaddress"] ?? text["mac"]).flatMap(DeviceText.macAddress)
        var device = DiscoveredDevice(
            name: fact(key.name), macAddress: mac, version: fact(text["version"]), addresses: reachable,
            serviceURLs: serviceURLs, foundBy: [.dnsSD])
        switch key.type {
        case .iotlink:
            device.port = port
            device.deviceID = text["deviceid"].flatMap { DeviceID(rawValue: $0) }?.rawValue
            device.productID = fact(text["productid"])
            device.serialNumber = text["serialnumber"].flatMap(DeviceText.serialNumber)
            device.keyFingerprint = text["keyfingerprint"].flatMap { KeyFingerprint($0) }
            device.hasOwner = ["1": true, "0": false][text["hasowner"] ?? ""]
        case .axisVideo:
            device.manufacturer = "Axis"
            // An Axis camera's serial number is its MAC address without separators.
            device.serialNumber = mac?.replacing(":", with: "").uppercased()
        case .rtsp:
            device.manufacturer = fact(text["manufacturer"])
            device.model = fact(text["model"])
            device.serialNumber = (text["serialnumber"] ?? text["serial"]).flatMap(DeviceText.serialNumber)
        }
        device.identities = Set(
            [
                device.deviceID.map { "device:\($0)" }, mac.map { "mac:\($0)" },
                device.serialNumber.map { "serial:\($0)" },
                device.keyIdentity,
                key.identity,
            ].compactMap { $0 })
        return device
    }

    /// Readable text; `nil` if it is empty.
    private func fact(_ text: String?) -> String? {
        let text = DeviceText.clean(text ?? "")
        return text.isEmpty ? nil : text
    }

    private var reachable: [IPAddress] { addresses.filter(\.isUsable) }

    private var serviceURLs: [String] {
        switch key.type {
        case .iotlink: []
        case .rtsp:
            reachable.map { address in
                let path = (text["path"] ?? "").drop { $0 == "/" }
                return "rtsp://\(address.urlHost)\(port == 554 ? "" : ":\(port)")/\(Self.urlPath(path))"
            }
        case .axisVideo: reachable.map { "http://\($0.urlHost)\(port == 80 ? "" : ":\(port)")/" }
        }
    }

    /// A path from a stranger: characters that a URL may not contain are percent-encoded (RFC 3986 §3.3, §3.4).
    private static func urlPath(_ path: some StringProtocol) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?%".utf8)
        return path.utf8.map { byte in
            allowed.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

extension ServiceKey {
    /// Unique in a network, so it identifies a service without other identifiers.
    var identity: String { "service:\(name).\(type.rawValue)" }
}
