/// Every error that a user can get: its number, name, message and remedy. This is the only place that defines them.
public enum ErrorCatalogue {
    /// One row of the catalogue.
    public struct Entry: Sendable {
        public let code: ErrorCode
        /// A lower-camel-case word, the same in the library, the HTTP API and the command line.
        public let name: String
        /// The general message.
        public let message: String
        /// What to do about it.
        public let remedy: String
        /// Why this product never reports the error itself; `nil` if it does. A device may still report it.
        public let whyUnused: String?

        init(_ code: ErrorCode, _ name: String, _ message: String, remedy: String, whyUnused: String? = nil) {
            self.code = code
            self.name = name
            self.message = message
            self.remedy = remedy
            self.whyUnused = whyUnused
        }
    }

    /// All rows, in ascending order of number.
    public static let entries: [Entry] =
        (hub + calls + messages + channels + players + downloads + provisioning + product + firmware)
        .sorted { $0.code < $1.code }

    private static let byCode = Dictionary(uniqueKeysWithValues: entries.map { ($0.code, $0) })
    private static let byName = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0) })

    public static func entry(_ code: ErrorCode) -> Entry? {
        byCode[code]
    }

    public static func entry(named name: String) -> Entry? {
        byName[name]
    }
}

extension ErrorCode {
    /// The catalogue's name; `customerDefined` for 20151–20199, which each device defines for itself, and `unknown` for
    /// a number from a newer peer.
    public var name: String {
        if let entry = ErrorCatalogue.entry(self) { return entry.name }
        if rawValue == 0 { return "success" }
        return (20151...20199).contains(rawValue) ? "customerDefined" : "unknown"
    }

    public var message: String {
        ErrorCatalogue.entry(self)?.message ?? (rawValue == 0 ? "success" : "error \(rawValue)")
    }

    public var remedy: String {
        ErrorCatalogue.entry(self)?.remedy ?? "look the number up in the device's documentation"
    }
}
