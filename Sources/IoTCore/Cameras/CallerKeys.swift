/// The gateways that may call a camera: the fingerprints of their keys.
public struct CallerKeys: Hashable, Sendable {
    /// The form of a camera's key `callers`.
    package static let requirement =
        "must be the fingerprints of 1 to \(most) gateways' keys (`iotctl status`), separated by commas"

    private static let most = 64

    /// `nil` for every gateway.
    private let fingerprints: Set<KeyFingerprint>?

    /// Every gateway may call.
    package static let all = CallerKeys(fingerprints: nil)

    private init(fingerprints: Set<KeyFingerprint>?) {
        self.fingerprints = fingerprints
    }

    /// - Parameter text: `SHA256:…,SHA256:…`; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", maxSplits: Self.most, omittingEmptySubsequences: false)
        let found = parts.compactMap { KeyFingerprint($0.drop { $0 == " " }) }
        guard found.count == parts.count, parts.count <= Self.most else { return nil }
        fingerprints = Set(found)
    }

    /// - Parameter callers: A checked text, or `nil` for every gateway.
    package init(checked callers: String?) {
        self = callers.flatMap { CallerKeys($0) } ?? .all
    }

    /// Whether callers must prove their key.
    package var areLimited: Bool { fingerprints != nil }

    package func allow(_ caller: KeyFingerprint) -> Bool {
        fingerprints?.contains(caller) ?? true
    }
}
