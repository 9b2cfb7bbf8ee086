import Yams

/// A problem in a configuration file.
struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    var file: String
    /// From 1; `nil` if the problem has no single line.
    var line: Int?
    /// As a user writes it: `hub.listen`, `cameras[1].url`; `nil` for the whole file.
    var key: String?
    var reason: String

    var description: String {
        [line.map { "\(file):\($0)" } ?? file, key, reason].compactMap { $0 }.joined(separator: ": ")
    }
}

/// Why a value is refused.
struct ValueRefusal: Error {
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
