/// The versions that a release can be installed on: one version, or all of a series, `0.1.*` or `0.*`.
public struct VersionPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Content: Hashable {
        case exact(FirmwareVersion)
        /// The first numbers.
        case series([UInt32])
    }

    private let content: Content

    /// - Returns: `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        if let version = FirmwareVersion(text) {
            content = .exact(version)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts.last == "*" else { return nil }
        let numbers = parts.dropLast().compactMap { FirmwareVersion.number($0) }
        guard numbers.count == parts.count - 1 else { return nil }
        content = .series(numbers)
    }

    public func matches(_ version: FirmwareVersion) -> Bool {
        switch content {
        case .exact(let exact): exact == version
        case .series(let numbers): version.begins(with: numbers)
        }
    }

    public var description: String {
        switch content {
        case .exact(let version): version.description
        case .series(let numbers): numbers.map { "\($0)." }.joined() + "*"
        }
    }
}
