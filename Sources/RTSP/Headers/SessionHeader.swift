/// The value of `Session` (RFC 2326 §12.37).
package struct SessionHeader: Sendable, Hashable {
    /// The largest identifier, in bytes.
    package static let maximumSize = 256

    package var identifier: String
    /// The number of seconds without a request after which the server ends the session; `nil` means 60.
    package var timeout: Int?

    package static let defaultTimeout = 60

    package init(_ identifier: String, timeout: Int? = nil) {
        self.identifier = identifier
        self.timeout = timeout
    }

    /// `nil` if the identifier is absent or too long. A time-out that is not a positive number is ignored.
    package init?(parsing text: String) {
        let parts = HeaderParameters.split(Substring(text), ";")
        guard let identifier = parts.first, (1...Self.maximumSize).contains(identifier.utf8.count),
            !text.utf8.starts(with: ";".utf8), identifier.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.identifier = String(identifier)
        for parameter in HeaderParameters(text) where parameter.name == "timeout" {
            timeout = parameter.value.flatMap { Int($0) }.flatMap { (1...86_400).contains($0) ? $0 : nil }
        }
    }

    package var text: String { identifier + (timeout.map { ";timeout=\($0)" } ?? "") }
}
