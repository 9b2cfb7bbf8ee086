import Foundation
import IoTCore
import LinkHub
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// Assembles the roles and runs them until the daemon is stopped.
struct Daemon {
    /// A camera and its viewers are on one event loop, so on a larger machine more loops serve more cameras at once. At
    /// least two, because a busy camera must not delay everything else.
    private static let loopCount = min(max(System.coreCount, 2), 8)

    private let configuration: Configuration
    private let joined: JoinedBox?
    private let options: DaemonOptions

    /// - Parameter options: the command line, which each reload reads again.
    /// - Throws: what is wrong with the configuration.
    init(_ options: DaemonOptions) throws(IoTError) {
        self.options = options
        configuration = try options.configuration()
        joined = try configuration.joinedBox()
    }

    func run() async throws {
        // Files created from here on are private to this user, unless they are given other rights.
        umask(0o077)
        FileLimit.raise()
        MallocArenas.limit()
        // A reload request during the start must not end the daemon.
        signal(SIGHUP, SIG_IGN)
        let log = LogOutput(level: configuration.log.level)
        log.bootstrap()
        log.apply(configuration.log)
        defer { log.flush() }
        let logger = Logger(label: "iotvideod")
        if configuration.api.listen != nil, !configuration.api.isEncrypted,
            configuration.api.listen?.isLoopback == false
        {
            logger.warning("api.tls is off on an address that is not loopback: tokens can be read on the network")
        }
        try PrivateDirectory.makeRoot(configuration.dataDirectory)
        let hub = try makeHub(logger: logger)
        // A hub has its own lock.
        let lock = hub == nil ? try DirectoryLock(configuration.dataDirectory, file: "lock", holder: "daemon") : nil
        defer { withExtendedLifetime(lock) {} }
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: Self.loopCount)
        let plain = Roles(
            configuration: configuration, joined: joined, read: checkedRead, log: log, hub: hub, loops: loops,
            logger: logger)
        let isProvisioned = configuration.provisioning.isOn && (joined == nil || options.provision)
        let roles: any Service = isProvisioned ? ProvisionedRoles(roles: plain) : plain
        let deadline = StopDeadline(
            firstAct: { hub?.expectStop() },
            lastAct: { if let broker = hub?.brokerProcessIdentifier { kill(broker, SIGKILL) } })
        // Services stop in reverse order: the roles sign off while the hub still listens.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: ((hub.map { [$0] } ?? []) + [roles, deadline]).map {
                    .init(named: $0, onEnd: .gracefullyShutdownGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            try? await loops.shutdownGracefully()
            throw error
        }
        try await loops.shutdownGracefully()
    }

    /// Reads the configuration as at a start. Only the data directory keeps its place, because it cannot move while the
    /// daemon runs.
    private var checkedRead: @Sendable () throws(IoTError) -> Configuration {
        { [options, dataDirectory = configuration.dataDirectory] () throws(IoTError) in
            let new = try options.configuration(dataDirectory: dataDirectory)
            var here = new
            here.dataDirectory = dataDirectory
            _ = try here.joinedBox()
            return new
        }
    }

    private func makeHub(logger: Logger) throws(IoTError) -> LinkHub? {
        guard configuration.hasHub(joined: joined) else { return nil }
        let endpoint: BrokerSupervisor.EndpointChoice =
            switch configuration.hub.listen {
            case .unix: .unixSocket
            case .loopback(let port): .loopback(port: port)
            }
        let tls = configuration.hub.tls.listen.map { listen in
            HubTLS(
                host: listen.host, port: listen.port, names: configuration.hub.tls.names,
                certificateFile: configuration.hub.tls.certificateFile, keyFile: configuration.hub.tls.keyFile)
        }
        return try LinkHub(
            HubConfiguration(
                dataDirectory: configuration.dataDirectory, mosquittoPath: configuration.hub.mosquitto,
                endpoint: endpoint, tls: tls),
            logger: logger)
    }
}
