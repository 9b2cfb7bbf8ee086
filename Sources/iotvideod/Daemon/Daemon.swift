import Foundation
import IoTCore
import LinkHub
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// Puts the roles together and runs them until the daemon is told to stop.
struct Daemon {
    private let configuration: Configuration
    private let joined: JoinedBox?
    private let options: DaemonOptions

    /// - Parameter options: what the configuration is read with, at the start and at each reload.
    /// - Throws: what is wrong with it.
    init(_ options: DaemonOptions) throws(IoTError) {
        self.options = options
        configuration = try options.configuration()
        joined = try configuration.joinedBox()
    }

    func run() async throws {
        // Whatever is made from here on belongs to this user alone, until it is given rights of its own.
        umask(0o077)
        FileLimit.raise()
        // A reload that comes before there is anything to reload must not end the daemon.
        signal(SIGHUP, SIG_IGN)
        let log = LogOutput(level: configuration.log.level)
        log.bootstrap()
        let logger = Logger(label: "iotvideod")
        if configuration.api.listen != nil, !configuration.api.isEncrypted,
            configuration.api.listen?.isLoopback == false
        {
            logger.warning("api.tls is off beyond the loopback interface: tokens can be read on the way")
        }
        try PrivateDirectory.makeRoot(configuration.dataDirectory)
        let hub = try makeHub(logger: logger)
        // A hub has a lock of its own.
        let lock = hub == nil ? try DirectoryLock(configuration.dataDirectory, file: "lock", holder: "daemon") : nil
        defer { withExtendedLifetime(lock) {} }
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let roles: any Service = Roles(
            configuration: configuration, joined: joined, read: checkedRead, log: log, hub: hub, loops: loops,
            logger: logger)
        let deadline = StopDeadline(
            firstAct: { hub?.expectStop() },
            lastAct: { if let broker = hub?.brokerProcessIdentifier { kill(broker, SIGKILL) } })
        // Stopped from the last to the first: the roles say goodbye while the hub still listens.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: ((hub.map { [$0] } ?? []) + [roles, deadline]).map {
                    .init(
                        service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup)
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

    /// As at a start, but for the place of the data: that cannot move while the daemon runs.
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
