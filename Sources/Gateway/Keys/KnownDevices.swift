import IoTCore

/// The fingerprints of devices' keys that accounts have learned, one for each account and device. Stored in a text file
/// with one line for each, as ssh keeps hosts.
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
    }

    /// The most that is kept for one account, and altogether. Further ones are refused.
    static let maximumOfAccount = 1_024
    static let maximum = 16_384
    /// No more than this is read, in bytes: a line has at most 180.
    static let maximumSize = 4 << 20

    private static let header = "# Keys of devices, by account. To forget one, use iotctl device key.\n"

    private(set) var entries: [Place: Entry] = [:]

    subscript(place: Place) -> Entry? { entries[place] }

    /// Keeps an entry. One that is kept is replaced only by the same fingerprint, learned in a stronger way.
    ///
    /// - Throws: `deviceKeyChanged`, `tooManyRequests`.
    mutating func keep(_ entry: Entry, at place: Place) throws(IoTError) {
        if let old = entries[place] {
            guard old.fingerprint == entry.fingerprint else { throw Self.changed(from: old, to: entry.fingerprint) }
            if old.source < entry.source { entries[place]?.source = entry.source }
            return
        }
        let own = entries.keys.count { $0.account == place.account }
        guard own < Self.maximumOfAccount, entries.count < Self.maximum else {
            throw IoTError(
                .tooManyRequests, "the keys of \(own) devices are kept for this account, and no more fit",
                remedy: "forget some: `iotctl device key DEVICE --forget`")
        }
        entries[place] = entry
    }

    /// - Returns: whether there was one.
    mutating func forget(where isMeant: (Place) -> Bool) -> Bool {
        let before = entries.count
        entries = entries.filter { !isMeant($0.key) }
        return entries.count != before
    }

    static func changed(from old: Entry, to new: KeyFingerprint) -> IoTError {
        let way =
            switch old.source {
            case .hub: "as its hub said"
            case .lan: "as seen on the network"
            case .ap: "learned over its access point"
            }
        return IoTError(
            .deviceKeyChanged,
            "the device's signing key has changed: kept is \(old.fingerprint), \(way); now it is \(new)")
    }

    // MARK: Text

    init() {}

    /// - Throws: `fileFailed` with the number of the damaged line.
    init(parsing text: String, name: String) throws(IoTError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty && !line.hasPrefix("#") {
            let fields = line.split(separator: " ")
            guard fields.count == 5, let account = AccessID(rawValue: String(fields[0])),
                let device = DeviceID(rawValue: String(fields[1])), let source = KeySource(rawValue: String(fields[2])),
                let fingerprint = KeyFingerprint(fields[3]), let since = Int64(fields[4])
            else {
                throw IoTError(.fileFailed, "\(name) line \(index + 1) is damaged", remedy: "remove that line")
            }
            entries[Place(account: account, device: device)] = Entry(
                fingerprint: fingerprint, source: source, since: since)
        }
    }

    var text: String {
        Self.header
            + entries.map { place, entry in
                "\(place.account.rawValue) \(place.device.rawValue) \(entry.source.rawValue) \(entry.fingerprint) "
                    + "\(entry.since)\n"
            }.sorted().joined()
    }
}
