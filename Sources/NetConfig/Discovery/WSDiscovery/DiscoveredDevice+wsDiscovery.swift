import IoTCore

extension DiscoveredDevice {
    /// The device that a target describes.
    ///
    /// - Parameter source: The datagram's source address, with the interface's zone if it is link-local.
    init(_ target: WSDTarget, from source: IPAddress?) {
        self.init(foundBy: [.wsDiscovery])
        for scope in target.scopes { read(scope) }
        let urls = target.serviceURLs.compactMap { ServiceURL($0, zone: source?.zone) }
        addresses = (source.map { [$0] } ?? []) + urls.compactMap(\.address)
        addresses = addresses.unique.filter(\.isUsable)
        // The URLs with the datagram's source address first: that address is known to be reachable.
        serviceURLs = (urls.filter { $0.address == source } + urls.filter { $0.address != source }).map(\.text).unique
        if target.endpoint.hasPrefix("urn:uuid:"), target.endpoint.contains(where: { !":-0urnid".contains($0) }) {
            identities.insert(target.endpoint)
        }
        if let deviceID { identities.insert("device:" + deviceID) }
        if let macAddress { identities.insert("mac:" + macAddress) }
        if let serialNumber { identities.insert("serial:" + serialNumber) }
        if let keyIdentity { identities.insert(keyIdentity) }
    }

    /// A scope is `onvif://www.onvif.org/KEY/VALUE` (ONVIF Core §7.3.2.2), or one of ours.
    private mutating func read(_ scope: String) {
        let onvif = "onvif://www.onvif.org/"
        let isOurs = scope.hasPrefix(WSDTarget.scopePrefix)
        guard isOurs || scope.lowercased().hasPrefix(onvif) else { return }
        let parts = scope.dropFirst(isOurs ? WSDTarget.scopePrefix.count : onvif.count)
            .split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else { return }
        let value = DeviceText.clean(WSDScope.decoded(String(parts[1])))
        guard !value.isEmpty else { return }
        if isOurs { setOurs(String(parts[0]), value) } else { setONVIF(parts[0].lowercased(), value) }
    }

    private mutating func setOurs(_ key: String, _ value: String) {
        switch key {
        case "deviceID": deviceID = DeviceID(rawValue: value)?.rawValue
        case "productID": productID = value
        case "name": name = value
        case "version": version = value
        case "serialNumber": serialNumber = value
        case "macAddr": macAddress = DeviceText.macAddress(value)
        case "hasOwner": hasOwner = value == "true"
        case "keyFingerprint": keyFingerprint = KeyFingerprint(value)
        default: break
        }
    }

    private mutating func setONVIF(_ key: String, _ value: String) {
        switch key {
        case "name": name = name ?? value
        case "hardware": model = model ?? value
        case "manufacturer", "mfr": manufacturer = manufacturer ?? value
        case "mac", "macaddress", "macaddr": macAddress = macAddress ?? DeviceText.macAddress(value)
        case "serial", "serialnumber", "sn": serialNumber = serialNumber ?? DeviceText.serialNumber(value)
        case "firmware", "version": version = version ?? value
        default: break
        }
    }
}

extension Array where Element: Hashable {
    /// Each element once, in order.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
