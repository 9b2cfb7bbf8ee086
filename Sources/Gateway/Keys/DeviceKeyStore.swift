package import IoTCore

/// Stores the fingerprints of devices' keys in `known_devices` of the data directory (mode 0600).
package actor DeviceKeyStore {
    private let path: String?
    /// `nil` until the file has been read.
    private var known: KnownDevices?

    /// - Parameter path: If `nil`, the fingerprints are only in memory.
    package init(path: String?) {
        self.path = path
    }

    func entry(_ place: KnownDevices.Place) throws(IoTError) -> KnownDevices.Entry? {
        try load()[place]
    }

    /// Stores the entry as `KnownDevices.keep` does.
    ///
    /// - Returns: the entry that is stored now.
    /// - Throws: `deviceKeyChanged`, `tooManyRequests`, `fileFailed`; then nothing has changed.
    func keep(_ entry: KnownDevices.Entry, at place: KnownDevices.Place) throws(IoTError) -> KnownDevices.Entry {
        var new = try load()
        try new.keep(entry, at: place)
        try save(new)
        return new[place] ?? entry
    }

    func forget(_ place: KnownDevices.Place) throws(IoTError) {
        try forget { $0 == place }
    }

    /// Removes the entries of the device for all accounts.
    func forget(_ device: DeviceID) throws(IoTError) {
        try forget { $0.device == device }
    }

    private func forget(where isMeant: (KnownDevices.Place) -> Bool) throws(IoTError) {
        var new = try load()
        if new.forget(where: isMeant) { try save(new) }
    }

    private func load() throws(IoTError) -> KnownDevices {
        if let known { return known }
        let bytes = try path.map { path throws(IoTError) in
            try PrivateFile.bytes(of: path, limit: KnownDevices.maximumSize) ?? []
        }
        let read = try KnownDevices(parsing: String(decoding: bytes ?? [], as: UTF8.self), name: path ?? "")
        known = read
        return read
    }

    private func save(_ new: KnownDevices) throws(IoTError) {
        guard new != known else { return }
        if let path { try PrivateFile.write(new.text, to: path) }
        known = new
    }
}
