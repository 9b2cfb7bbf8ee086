import Foundation
import IoTCore
import IoTLink

/// The account of the daemon itself, created on the first start. Its files are `link/accessId` and `link/token`.
struct OwnAccount: Sendable {
    let accessID: AccessID
    private let tokenFile: String

    init(dataDirectory: String) throws(IoTError) {
        let directory = dataDirectory + "/link"
        try PrivateDirectory.make(directory)
        tokenFile = directory + "/token"
        let path = directory + "/accessId"
        guard let text = try PrivateFile.text(of: path) else {
            accessID = Self.firstName
            try PrivateFile.write(accessID.rawValue + "\n", to: path)
            return
        }
        guard let id = AccessID(rawValue: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw IoTError(.fileFailed, "\(path) has no access id ([a-z0-9_-]{1,64}): correct it, or remove it")
        }
        accessID = id
    }

    private static let firstName = AccessID(rawValue: "owner")!

    /// The token of an earlier start, if the hub still accepts it and less than two thirds of its lifetime have passed.
    func usableToken(
        _ authority: TokenAuthority, knownTokens: (String) -> Bool, at seconds: Int64
    ) throws(IoTError) -> String? {
        guard let text = try PrivateFile.text(of: tokenFile)?.trimmingCharacters(in: .whitespacesAndNewlines),
            let claims = authority.verify(text, as: LinkTokenClaims.self),
            claims.sub == Principal.user(accessID).description, knownTokens(claims.jti),
            claims.exp - seconds > (claims.exp - claims.iat) / 3
        else { return nil }
        return text
    }

    func save(_ token: String) throws(IoTError) {
        try PrivateFile.write(token + "\n", to: tokenFile)
    }
}
