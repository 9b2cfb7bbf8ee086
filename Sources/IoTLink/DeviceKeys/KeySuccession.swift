public import IoTCore

/// The earlier keys of a device, each of which has signed the key after it. Whoever knows one of them can so accept the
/// present key without another way to learn it. A hub cannot make one, because it has none of the private keys.
public struct KeySuccession: Sendable, Hashable {
    /// The largest number of earlier keys. Beyond it, the oldest ones are dropped.
    public static let limit = 8

    /// The largest size of `text` in bytes: a key, a signature, and the spaces.
    public static let maximumSize = limit * (keySize + signatureSize + 2) - 1

    /// Separates these signatures from others that the same key makes.
    private static let label = "iotvideod key succession 1"
    private static let keySize = 60
    private static let signatureSize = 88

    private struct Step: Sendable, Hashable {
        var key: DevicePublicKey
        /// The key's signature of the key after it.
        var signature: [UInt8]
    }

    /// The oldest first.
    private var steps: [Step] = []

    /// A device that has had no other key.
    public init() {}

    /// Parses `text`.
    ///
    /// - Returns: `nil` if it is malformed. The signatures are not checked.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumSize else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count.isMultiple(of: 2) else { return nil }
        for index in stride(from: 0, to: fields.count, by: 2) {
            guard let key = DevicePublicKey(fields[index]), fields[index + 1].utf8.count == Self.signatureSize,
                let signature = Base64.decode(fields[index + 1])
            else { return nil }
            steps.append(Step(key: key, signature: signature))
        }
    }

    /// Each earlier key, as `DevicePublicKey.text`, and its signature in base64, separated by spaces; the oldest first.
    public var text: String {
        steps.map { "\($0.key.text) \(Base64.encode($0.signature))" }.joined(separator: " ")
    }

    public var isEmpty: Bool { steps.isEmpty }

    /// The key before the present one.
    public var previous: DevicePublicKey? { steps.last?.key }

    /// Whether a key with this fingerprint has signed the key after it, and so on until `key`.
    public func leads(from fingerprint: KeyFingerprint, to key: DevicePublicKey) -> Bool {
        guard let first = steps.firstIndex(where: { $0.key.fingerprint == fingerprint }) else { return false }
        return steps.indices[first...].allSatisfy { index in
            let next = index + 1 < steps.count ? steps[index + 1].key : key
            return steps[index].key.isValid(
                steps[index].signature, of: Self.statement(old: steps[index].key, new: next))
        }
    }

    /// These keys and then `key`, which signs `new`.
    ///
    /// - Throws: `internalFailure`.
    public func appending(_ key: DeviceKey, signing new: DevicePublicKey) throws(IoTError) -> KeySuccession {
        let signature = try key.signature(of: Self.statement(old: key.publicKey, new: new))
        var longer = self
        longer.steps.append(Step(key: key.publicKey, signature: signature))
        longer.steps.removeFirst(max(0, longer.steps.count - Self.limit))
        return longer
    }

    /// The keys before `key`, if it is among them; otherwise all.
    public func before(_ key: DevicePublicKey) -> KeySuccession {
        guard let index = steps.firstIndex(where: { $0.key == key }) else { return self }
        var shorter = self
        shorter.steps.removeSubrange(index...)
        return shorter
    }

    /// The text that the old key signs.
    private static func statement(old: DevicePublicKey, new: DevicePublicKey) -> [UInt8] {
        Array("\(label)\nold \(old.text)\nnew \(new.text)\n".utf8)
    }
}
