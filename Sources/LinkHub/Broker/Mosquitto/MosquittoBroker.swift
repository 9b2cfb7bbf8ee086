import IoTCore
import IoTLink
import Logging

/// mosquitto as a child process. Its dynamic-security plugin manages the credentials.
final class MosquittoBroker: HubBroker {
    private let supervisor: BrokerSupervisor
    private let credentials = CredentialSync()
    private let connection: HubConnection
    private let password = Hex.random(byteCount: 32)
    private let upkeepInterval: Duration

    /// - Throws: `brokerMissing`, or `fileFailed` for a data directory that cannot be used.
    init(_ configuration: HubConfiguration, logger: Logger) throws(IoTError) {
        supervisor = try BrokerSupervisor(
            dataDirectory: configuration.dataDirectory, endpoint: configuration.endpoint,
            program: configuration.mosquittoPath, tls: configuration.tls, limits: configuration.brokerLimits,
            logger: logger)
        upkeepInterval = configuration.tls?.checkInterval ?? .seconds(60)
        connection = HubConnection(
            endpoint: supervisor.hubEndpoint.link, password: password, credentials: credentials, logger: logger)
    }

    var endpoint: LinkEndpoint { supervisor.endpoint.link }
    var localEndpoint: LinkEndpoint { supervisor.localEndpoint.link }
    var tlsEndpoint: LinkEndpoint? { supervisor.tlsEndpoint }
    var authorityFingerprint: [UInt8]? { supervisor.certificate?.authority.fingerprint }

    var certificateFiles: (certificate: String, key: String)? {
        supervisor.certificate.map { ($0.certificateFile, $0.keyFile) }
    }

    var status: BrokerStatus {
        BrokerStatus(
            processIdentifier: supervisor.processIdentifier, starts: supervisor.starts, failure: supervisor.failure)
    }

    /// Where the hub's own client connects.
    var hubEndpoint: BrokerEndpoint { supervisor.hubEndpoint }

    /// - Throws: `brokerFailed` if the first broker does not start.
    func run(_ handlers: BrokerHandlers) async throws {
        // Without this, callers that wait for a confirmation would wait forever.
        defer { credentials.stop() }
        let (listening, listeningFeed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup { group in
            group.addTask { [self] in
                try await supervisor.run(
                    securityFile: { [self] () async throws(IoTError) in try await securityFile(handlers) },
                    onListening: { listeningFeed.yield() })
            }
            group.addTask { [self] in
                await connection.run(
                    listening: listening, onMessage: handlers.onMessage,
                    onReady: { [self] in
                        supervisor.openToPrincipals()
                        handlers.onReady()
                    }, onLost: handlers.onLost)
            }
            group.addTask { [self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: upkeepInterval)
                    supervisor.boundLog()
                    supervisor.refreshCertificate()
                }
            }
            group.addTask { [self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(500))
                    supervisor.boundMemory()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Made before each start. It contains every credential that is not sent later.
    private func securityFile(_ handlers: BrokerHandlers) async throws(IoTError) -> JSONValue {
        let known = try await handlers.credentials { [credentials] in credentials.reset() }
        return DynamicSecurity.file(hub: .hub(password: password), credentials: known)
    }

    func send(_ outputs: [HubOutput]) {
        connection.send(outputs)
    }

    func waitUntilConfirmed(_ tokenID: String) async {
        await credentials.waitUntilConfirmed(tokenID)
    }
}

extension BrokerEndpoint {
    fileprivate var link: LinkEndpoint {
        switch self {
        case .unixSocket(let path): .unixSocket(path: path)
        case .loopback(let port): .tcp(host: "127.0.0.1", port: port)
        }
    }
}

extension BrokerCredential {
    /// The hub's own credential. Its principal is not used, because the hub has its own role.
    static func hub(password: String) -> BrokerCredential {
        .make(tokenID: DynamicSecurity.hubUserName, principal: .device(.random()), token: password)
    }
}
