import IoTCore

/// The fingerprints of devices' keys, one for each account and device. The text has one line for each, like ssh's
/// `known_hosts`.
struct KnownDevices: Equatable, Sendable {
    struct Place: Hashable, Sendable {
        var account: AccessID
        var device: DeviceID
    }

    struct Entry: Hashable, Sendable {
        var fingerprint: KeyFingerprint
        var source: KeySource
        /// ms since 1970.
        var since: Int64
        /// The key before this one, which has signed it.
        var previous: KeyFingerprint?
    }

    /// The maximum number of entries for one account, and for all accounts. More are refused.
    static let maximumOfAccount = 1_024
    static let maximum = 16_384
    /// The maximum size of the file in bytes. A line has at most 231.
    static let maximumSize = 4 << 20

    private static let header = "# Keys of devices, by account. To remove one, run: iotctl device key DEVICE --forget\n"

    private(set) var entries: [Place: Entry] = [:]

    subscript(place: Place) -> Entry? { entries[place] }

    /// Stores an entry. If the same fingerprint is already stored, only its source changes, and only to a stronger one.
    ///
    /// - Parameter replacesWeaker: Whether the entry replaces another fingerprint with a weaker source.
    /// - Throws: `deviceKeyChanged`, `tooManyRequests`.
    mutating func keep(_ entry: Entry, at place: Place, replacesWeaker: Bool = false) throws(IoTError) {
        if let old = entries[place] {
            let isStronger = old.source < entry.source
            if old.fingerprint == entry.fingerprint {
                if isStronger { entries[place]?.source = entry.source }
            } else {
                guard replacesWeaker, isStronger else { throw Self.changed(from: old, to: entry.fingerprint) }
                entries[place] = entry
            }
            return
        }
        let own = entries.keys.count { $0.account == place.account }
        guard own < Self.maximumOfAccount, entries.count < Self.maximum else {
            throw IoTError(
                .tooManyRequests, "no more device keys can be stored: this account has \(own)",
                remedy: "remove some with `iotctl device key DEVICE --forget`")
        }
        entries[place] = entry
    }

    /// Stores a key that the stored one has signed, as learned in the same way.
    ///
    /// - Parameter time: ms since 1970.
    mutating func replace(_ old: KeyFingerprint, by new: KeyFingerprint, at place: Place, time: Int64) {
        guard let entry = entries[place], entry.fingerprint == old else { return }
        entries[place] = Entry(fingerprint: new, source: entry.source, since: time, previous: old)
    }

    mutating func forget(where isMeant: (Place) -> Bool) {
        entries = entries.filter { !isMeant($0.key) }
    }

    static func changed(from old: Entry, to new: KeyFingerprint) -> IoTError {
        let way =
            switch old.source {
            case .hub: "reported by the hub"
            case .lan: "seen on the network"
            case .ap: "learned over its access point"
            }
        return IoTError(
            .deviceKeyChanged,
            "the device's signing key has changed from \(old.fingerprint) (\(way)) to \(new)")
    }

    // MARK: Text

    init() {}

    /// - Throws: `fileFailed` with the number of a damaged line.
    init(parsing text: String, name: String) throws(IoTError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty && !line.hasPrefix("#") {
            let fields = line.split(separator: " ")
            guard (5...6).contains(fields.count), let account = AccessID(rawValue: String(fields[0])),
                let device = DeviceID(rawValue: String(fields[1])), let source = KeySource(rawValue: String(fields[2])),
                let fingerprint = KeyFingerprint(fields[3]), let since = Int64(fields[4]),
                case let previous = fields.count == 6 ? KeyFingerprint(fields[5]) : nil,
                fields.count == 5 || previous != nil
            else {
                throw IoTError(.fileFailed, "\(name) line \(index + 1) is damaged", remedy: "remove that line")
            }
            entries[Place(account: account, device: device)] = Entry(
                fingerprint: fingerprint, source: source, since: since, previous: previous)
        }
    }

    var text: String {
        Self.header
            + entries.map { place, entry in
                "\(place.account.rawValue) \(place.device.rawValue) \(entry.source.rawValue) \(entry.fingerprint) "
                    + "\(entry.since)" + (entry.previous.map { " \($0)" } ?? "") + "\n"
            }.sorted().joined()
    }
}
