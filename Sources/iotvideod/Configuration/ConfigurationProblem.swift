import Yams

/// One thing that is wrong with a configuration file.
struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    var file: String
    /// From 1; `nil` for what has no one place.
    var line: Int?
    /// As a user writes it: `hub.listen`, `cameras[1].url`; `nil` for the file as a whole.
    var key: String?
    var reason: String

    var description: String {
        [line.map { "\(file):\($0)" } ?? file, key, reason].compactMap { $0 }.joined(separator: ": ")
    }
}

/// A value's reason for being refused.
struct ValueRefusal: Error {
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
