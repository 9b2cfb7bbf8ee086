import IoTCore

/// A line of wpa_supplicant's SCAN_RESULTS: `bssid / frequency / signal level / flags / ssid`, separated by tabs.
enum SupplicantTable {
    static func network(_ line: Substring) -> WiFiNetwork? {
        let fields = line.split(separator: "\t", maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count == 5, let bssid = Hex.decode(fields[0].filter { $0 != ":" }), bssid.count == 6,
            let frequency = Int(fields[1]), let signal = Int(fields[2])
        else { return nil }
        return WiFiNetwork(
            ssid: Array(unescape(fields[4]).prefix(32)), bssid: bssid, channel: channel(frequency), rssi: signal,
            authentication: authentication(fields[3]))
    }

    /// IEEE 802.11 annex E: the channel of a frequency in MHz; 0 if it has none.
    static func channel(_ frequency: Int) -> Int {
        switch frequency {
        case 2484: 14
        case 2412...2472: (frequency - 2407) / 5
        case 5000...5895: (frequency - 5000) / 5
        case 5955...7115: (frequency - 5950) / 5
        default: 0
        }
    }

    private static func authentication(_ flags: Substring) -> WiFiNetwork.Authentication? {
        let isSAE = flags.contains("SAE")
        let isPSK = flags.contains("WPA2-PSK")
        return if flags.contains("EAP") {
            .wpa2Enterprise
        } else if isSAE {
            isPSK || flags.contains("PSK+SAE") ? .wpa2OrWPA3 : .wpa3
        } else if isPSK {
            flags.contains("[WPA-PSK") ? .wpaOrWPA2 : .wpa2
        } else if flags.contains("WPA-PSK") {
            .wpa
        } else if flags.contains("WEP") {
            .wep
        } else {
            .open
        }
    }

    /// wpa_supplicant's printf_encode: `\\`, `\"`, `\e`, `\n`, `\r`, `\t` and `\xNN`.
    private static func unescape(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch next {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "e"): bytes.append(0x1B)
            case UInt8(ascii: "x"):
                bytes += Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)) ?? []
                rest = rest.dropFirst(2)
            default: bytes.append(next)
            }
        }
        return bytes
    }
}
