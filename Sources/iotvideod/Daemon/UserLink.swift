import IoTCore
import IoTLink
import LinkHub
import Logging

/// The gateway's own session, for the account that it acts for.
struct UserLink {
    /// A placeholder account for a box that joined with devices only. Its session never registers.
    private static let noAccount = AccessID(rawValue: "nobody")!

    let session: LinkSession
    let accessId: AccessID
    /// False for a box that has cameras and no account.
    let isRegistered: Bool

    /// The configuration takes precedence over what this box has joined, and that over the local hub.
    static func make(
        _ configuration: Configuration, joined: JoinedBox?, hub: LinkHub?
    ) async throws(IoTError) -> UserLink {
        let (accessId, token) = try await principal(configuration, joined: joined, hub: hub) ?? (noAccount, .value(""))
        let endpoint: LinkEndpoint
        if let address = configuration.link.endpoint {
            endpoint = address.linkEndpoint(authority: configuration.link.certificateAuthorityFile)
        } else if let joined {
            endpoint = joined.linkEndpoint
        } else if let hub {
            endpoint = hub.localEndpoint
        } else {
            throw IoTError(.invalidConfiguration, "without a hub here, link.endpoint is needed")
        }
        let session = LinkSession(
            configuration: LinkConfiguration(principal: .user(accessId), token: token, endpoint: endpoint),
            logger: Logger(label: "link"))
        return UserLink(session: session, accessId: accessId, isRegistered: accessId != noAccount)
    }

    private static func principal(
        _ configuration: Configuration, joined: JoinedBox?, hub: LinkHub?
    ) async throws(IoTError) -> (AccessID, LinkToken)? {
        if let accessId = configuration.link.accessId, let file = configuration.link.tokenFile {
            return (accessId, .file(path: file))
        }
        if let user = joined?.user { return (user.accessId, .file(path: user.tokenFile)) }
        guard joined == nil else { return nil }
        if let hub { return (try await hub.ensureOwnAccount(), .value(try await hub.ownToken())) }
        throw IoTError(.invalidConfiguration, "without a hub here, link.accessId and link.tokenFile are needed")
    }
}

extension JoinedBox {
    var linkEndpoint: LinkEndpoint { endpoint.linkEndpoint(authority: certificateAuthorityFile) }
}

extension HubAddress {
    func linkEndpoint(authority file: String?) -> LinkEndpoint {
        switch self {
        case .unixSocket(let path): .unixSocket(path: path)
        case .tcp(let host, let port):
            if let file {
                .tls(host: host, port: port, certificateAuthorityFile: file)
            } else {
                .tcp(host: host, port: port)
            }
        }
    }
}
