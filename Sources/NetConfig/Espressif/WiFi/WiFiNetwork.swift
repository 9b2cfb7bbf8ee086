/// A network in a device's reach.
public struct WiFiNetwork: Sendable, Hashable {
    public enum Authentication: Int, Sendable, Hashable, CaseIterable {
        case open = 0
        case wep = 1
        case wpa = 2
        case wpa2 = 3
        case wpaOrWPA2 = 4
        case wpa2Enterprise = 5
        case wpa3 = 6
        case wpa2OrWPA3 = 7

        /// As text for users.
        public var name: String {
            switch self {
            case .open: "open"
            case .wep: "WEP"
            case .wpa: "WPA"
            case .wpa2: "WPA2"
            case .wpaOrWPA2: "WPA/WPA2"
            case .wpa2Enterprise: "WPA2 Enterprise"
            case .wpa3: "WPA3"
            case .wpa2OrWPA3: "WPA2/WPA3"
            }
        }
    }

    /// Up to 32 bytes, usually UTF-8; empty for a hidden network.
    public var ssid: [UInt8]
    /// Six bytes.
    public var bssid: [UInt8]
    public var channel: Int
    /// In dBm.
    public var rssi: Int
    /// `nil` if this version does not know it.
    public var authentication: Authentication?

    public init(ssid: [UInt8], bssid: [UInt8], channel: Int, rssi: Int, authentication: Authentication?) {
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
        self.rssi = rssi
        self.authentication = authentication
    }

    /// The network's name for users: bytes that are not UTF-8 are shown as U+FFFD.
    public var name: String { String(decoding: ssid, as: UTF8.self) }
}
