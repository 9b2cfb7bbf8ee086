import Crypto
import IoTCore

/// The client's side of HTTP's digest authentication (RFC 7616).
struct HTTPDigest: Hashable, Sendable {
    enum Algorithm: String, Sendable {
        case md5 = "MD5"
        case sha256 = "SHA-256"
    }

    var realm: String
    var nonce: String
    var opaque: String?
    var algorithm = Algorithm.md5
    /// Whether the server supports `qop=auth`; otherwise RFC 2069's form is used.
    var hasQuality = false

    /// The best offer of a server.
    ///
    /// - Parameter challenges: The values of `WWW-Authenticate`.
    static func best(_ challenges: [String]) -> HTTPDigest? {
        let known = challenges.compactMap { HTTPDigest($0) }
        return known.first { $0.algorithm == .sha256 } ?? known.first
    }

    /// `nil` for another scheme, or an unknown algorithm.
    init?(_ challenge: String) {
        guard challenge.utf8.count <= 2048, challenge.prefix(7).lowercased() == "digest " else { return nil }
        let parameters = Self.parameters(challenge.dropFirst(7))
        guard let realm = parameters["realm"], let nonce = parameters["nonce"] else { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = parameters["opaque"]
        if let name = parameters["algorithm"] {
            guard let algorithm = Algorithm(rawValue: name.uppercased()) else { return nil }
            self.algorithm = algorithm
        }
        let qualities = parameters["qop"]?.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        guard qualities?.contains("auth") ?? true else { return nil }
        hasQuality = qualities != nil
    }

    /// `name=value`, quoted or not, separated by commas (RFC 9110 §11.2).
    private static func parameters(_ text: Substring) -> [String: String] {
        var result: [String: String] = [:]
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            rest = rest.drop { $0 == 0x20 || $0 == 0x2C || $0 == 0x09 }
            let name = rest.prefix { $0 != UInt8(ascii: "=") }
            rest = rest.dropFirst(name.count + 1)
            var value: [UInt8] = []
            if rest.first == UInt8(ascii: "\"") {
                rest.removeFirst()
                while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                    value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
                }
            } else {
                value = Array(rest.prefix { $0 != 0x2C })
                rest = rest.dropFirst(value.count)
            }
            let key = String(decoding: name, as: UTF8.self).filter { $0 != " " }.lowercased()
            if result[key] == nil { result[key] = String(decoding: value, as: UTF8.self) }
        }
        return result
    }

    /// The value of `Authorization`.
    ///
    /// - Parameter count: The number of uses of this nonce, including this one.
    func authorization(
        _ login: ONVIFLogin, method: String, path: String, clientNonce: String, count: Int = 1
    ) -> String {
        let first = hash("\(login.username):\(realm):\(login.password)")
        let second = hash("\(method):\(path)")
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        let response =
            hasQuality
            ? hash("\(first):\(nonce):\(number):\(clientNonce):auth:\(second)") : hash("\(first):\(nonce):\(second)")
        var text =
            "Digest username=\"\(quoted(login.username))\", realm=\"\(quoted(realm))\", nonce=\"\(quoted(nonce))\", "
            + "uri=\"\(path)\", algorithm=\(algorithm.rawValue), response=\"\(response)\""
        if let opaque { text += ", opaque=\"\(quoted(opaque))\"" }
        if hasQuality { text += ", qop=auth, nc=\(number), cnonce=\"\(clientNonce)\"" }
        return text
    }

    private func hash(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return switch algorithm {
        case .md5: Hex.encode(Insecure.MD5.hash(data: bytes))
        case .sha256: Hex.encode(SHA256.hash(data: bytes))
        }
    }

    private func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}
