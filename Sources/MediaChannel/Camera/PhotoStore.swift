public import IoTCore
public import NIOCore
import Synchronization

/// Pictures named in an action's result, kept in memory for a while.
public final class PhotoStore: Sendable {
    struct Entry {
        let device: DeviceID
        let bytes: ByteBuffer
        let expires: NIODeadline
    }

    private let entries = Mutex<[(name: String, entry: Entry)]>([])
    private let limit: Int
    private let lifetime: TimeAmount

    /// Keeps the newest `limit` pictures, each for `lifetime`.
    public init(limit: Int = 64, lifetime: TimeAmount = .minutes(10)) {
        self.limit = limit
        self.lifetime = lifetime
    }

    /// Stores a JPEG picture and returns its unguessable name.
    func add(_ bytes: ByteBuffer, of device: DeviceID, at now: NIODeadline) -> String {
        let name = "photo-" + Hex.random(byteCount: 16) + ".jpg"
        entries.withLock { entries in
            entries.removeAll { $0.entry.expires <= now }
            if entries.count >= limit { entries.removeFirst() }
            entries.append((name, Entry(device: device, bytes: bytes, expires: now + lifetime)))
        }
        return name
    }

    /// A stored picture and the device that took it; `nil` if it has expired.
    public func picture(named name: String, at now: NIODeadline) -> (device: DeviceID, bytes: ByteBuffer)? {
        entries.withLock { entries in
            guard let entry = entries.first(where: { $0.name == name })?.entry, entry.expires > now else { return nil }
            return (entry.device, entry.bytes)
        }
    }
}
