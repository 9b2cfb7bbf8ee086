package import IoTCore

/// A server's side of digest authentication, for one connection (RFC 7616 §3.3).
///
/// Each connection has its own nonce, so the server stores nothing for clients that have not logged in. A nonce of
/// another connection is stale: the client repeats the request with the current nonce, without asking its user.
package struct ResponseAuthentication: Sendable {
    package enum Failure: Error, Sendable, Hashable {
        /// No authorization, another scheme, or another realm.
        case absent
        /// The nonce is another connection's, too old, or was used too often. Challenge again, with `stale`.
        case stale
        /// The user is unknown or the password is wrong.
        case wrong
    }

    private let realm: String
    private let algorithms: [DigestAlgorithm]
    private var nonce: String
    private let makeNonce: @Sendable () -> String
    private var usedCount: UInt32 = 0
    private var lastCount: UInt32 = 0

    /// The largest number of requests with one nonce.
    private static let maximumUses: UInt32 = 10_000

    /// - Parameters:
    ///   - algorithms: In the order of the challenges. FFmpeg uses the last challenge and supports only MD5.
    ///   - makeNonce: Returns a new random text of at least 128 bits each time.
    package init(
        realm: String, algorithms: [DigestAlgorithm] = [.sha256, .md5], makeNonce: @escaping @Sendable () -> String
    ) {
        self.realm = realm
        self.algorithms = algorithms
        self.makeNonce = makeNonce
        nonce = makeNonce()
    }

    /// The values of `WWW-Authenticate` of a 401 response.
    package func challenges(isStale: Bool) -> [String] {
        algorithms.map {
            HTTPDigest(realm: realm, nonce: nonce, algorithm: $0, hasQuality: true, isStale: isStale).text
        }
    }

    /// Reads the authorization of a request without checking it, so that the user's secret can be looked up.
    package func authorization(of request: RTSPRequest) throws(Failure) -> DigestAuthorization {
        guard let text = request.headers[RTSPHeaderName.authorization],
            let authorization = DigestAuthorization(text), authorization.realm == realm
        else { throw .absent }
        guard authorization.nonce == nonce else { throw .stale }
        return authorization
    }

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - authorization: The result of `authorization(of:)` for this request.
    ///   - secret: HA1 of the user for the authorization's algorithm; `nil` for an unknown user.
    package mutating func check(
        _ request: RTSPRequest, _ authorization: DigestAuthorization, secret: String?
    ) throws(Failure) {
        // The check takes the same time for an unknown user.
        let isProven = authorization.isProof(of: secret ?? "-", method: request.method.rawValue)
        try accept(request, authorization, isProven: secret != nil && isProven)
    }

    /// Checks the nonce of a request whose response was verified elsewhere.
    ///
    /// - Parameter isProven: Whether the response is correct for the method, the signed URI and a user's secret.
    package mutating func accept(
        _ request: RTSPRequest, _ authorization: DigestAuthorization, isProven: Bool
    ) throws(Failure) {
        guard isProven, Self.isSame(authorization.uri, request.uri) else { throw .wrong }
        guard authorization.nonce == nonce else { throw .stale }
        usedCount += 1
        // A repeated count is a replayed request (RFC 7616 §3.4). Clients without `qop` have no count.
        let isNew = authorization.use.map { $0.count > lastCount } ?? true
        guard isNew, usedCount <= Self.maximumUses else {
            nonce = makeNonce()
            (usedCount, lastCount) = (0, 0)
            throw .stale
        }
        if let use = authorization.use { lastCount = use.count }
    }

    /// Quirk 5: VLC and HappyTime NVR sign SETUP with the URL of the stream, with or without a slash at its end; Bosch
    /// BVMS signs the path alone (bluenviron/gortsplib, `pkg/auth/verify.go`). The request line determines the stream.
    private static func isSame(_ signed: String, _ requested: String) -> Bool {
        func path(_ text: String) -> Substring {
            let path = ServiceURL(text, maximumSize: 4_096, checksName: false)?.path ?? text
            return path.utf8.last == UInt8(ascii: "/") ? path.dropLast() : Substring(path)
        }
        if signed == requested { return true }
        let (base, whole) = (path(signed), path(requested))
        return base == whole || !base.isEmpty && whole.utf8.starts(with: (base + "/").utf8)
    }
}
