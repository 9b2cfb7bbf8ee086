import IoTCore
import IoTLink
import LinkHub
import Logging

/// The gateway's own session: of the account that it acts for.
struct UserLink {
    /// Whom a box acts for that joined with devices alone: nobody, so its session never registers.
    private static let nobody = AccessID(rawValue: "nobody")!

    let session: LinkSession
    let accessId: AccessID
    /// False for a box that has cameras and no account.
    let isRegistered: Bool

    /// What the configuration names goes before what this box has joined, and that before the hub here.
    static func make(
        _ configuration: Configuration, joined: JoinedBox?, hub: LinkHub?
    ) async throws(IoTError) -> UserLink {
        let (accessId, token) = try await principal(configuration, joined: joined, hub: hub) ?? (nobody, .value(""))
        let endpoint: LinkEndpoint
        if let address = configuration.link.endpoint {
            endpoint = address.linkEndpoint(authority: configuration.link.certificateAuthorityFile)
        } else if let joined {
            endpoint = joined.linkEndpoint
        } else if let hub {
            endpoint = hub.localEndpoint
        } else {
            throw IoTError(.invalidConfiguration, "link.endpoint is needed without a hub")
        }
        let session = LinkSession(
            configuration: LinkConfiguration(principal: .user(accessId), token: token, endpoint: endpoint),
            logger: Logger(label: "link"))
        return UserLink(session: session, accessId: accessId, isRegistered: accessId != nobody)
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
        throw IoTError(.invalidConfiguration, "link.accessId and link.tokenFile are needed without a hub")
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
