import Dispatch
import IoTCore
import Synchronization

/// Stores the fingerprints of devices' keys in `known_devices` of the data directory (mode 0600). A separate queue accesses
/// the file.
package final class DeviceKeyStore: Sendable {
    private let path: String?
    private let queue = DispatchQueue(label: "device-keys")
    /// `nil` until the file has been read. Used only on the queue.
    private let known = Mutex<KnownDevices?>(nil)

    /// - Parameter path: If `nil`, the fingerprints are only in memory.
    package init(path: String?) {
        self.path = path
    }

    func entry(_ place: KnownDevices.Place) async throws(IoTError) -> KnownDevices.Entry? {
        try await change { known throws(IoTError) in known[place] }
    }

    /// Stores the entry as `KnownDevices.keep` does.
    ///
    /// - Returns: the entry that is stored now.
    /// - Throws: `deviceKeyChanged`, `tooManyRequests`, `fileFailed`; then nothing has changed.
    func keep(
        _ entry: KnownDevices.Entry, at place: KnownDevices.Place, replacesWeaker: Bool = false
    ) async throws(IoTError) -> KnownDevices.Entry {
        try await change { known throws(IoTError) in
            try known.keep(entry, at: place, replacesWeaker: replacesWeaker)
            return known[place] ?? entry
        }
    }

    /// Stores a key that the stored one has signed. If another one is stored by now, nothing changes.
    ///
    /// - Returns: the entry that is stored now.
    @discardableResult
    func replace(
        _ old: KnownDevices.Entry, by new: KeyFingerprint, at place: KnownDevices.Place
    ) async throws(IoTError) -> KnownDevices.Entry {
        try await change { known throws(IoTError) in
            known.replace(old.fingerprint, by: new, at: place, time: WallClock.milliseconds())
            return known[place] ?? old
        }
    }

    func forget(_ place: KnownDevices.Place) async throws(IoTError) {
        try await change { known throws(IoTError) in known.forget { $0 == place } }
    }

    /// Removes the entries of the device for all accounts.
    func forget(_ device: DeviceID) async throws(IoTError) {
        try await change { known throws(IoTError) in known.forget { $0.device == device } }
    }

    /// Removes the entries of the account.
    func forget(_ account: AccessID) async throws(IoTError) {
        try await change { known throws(IoTError) in known.forget { $0.account == account } }
    }

    /// Runs `work` on the queue, and stores what it has changed.
    private func change<Value: Sendable>(
        _ work: @escaping @Sendable (inout KnownDevices) throws(IoTError) -> Value
    ) async throws(IoTError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, IoTError>, Never>) in
            queue.async { [self] in
                continuation.resume(
                    returning: Result { () throws(IoTError) in
                        let old = try load()
                        var new = old
                        let value = try work(&new)
                        if new != old { try save(new) }
                        return value
                    })
            }
        }
        return try result.get()
    }

    private func load() throws(IoTError) -> KnownDevices {
        if let known = known.withLock({ $0 }) { return known }
        let bytes = try path.map { path throws(IoTError) in
            try PrivateFile.bytes(of: path, limit: KnownDevices.maximumSize) ?? []
        }
        let read = try KnownDevices(parsing: String(decoding: bytes ?? [], as: UTF8.self), name: path ?? "")
        known.withLock { $0 = read }
        return read
    }

    private func save(_ new: KnownDevices) throws(IoTError) {
        if let path { try PrivateFile.write(new.text, to: path) }
        known.withLock { $0 = new }
    }
}
