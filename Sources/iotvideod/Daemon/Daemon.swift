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

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    func run() async throws {
        // Whatever is made from here on belongs to this user alone, until it is given rights of its own.
        umask(0o077)
        let level = configuration.log.level
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "iotvideod")
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let hub = try makeHub(logger: logger)
        let roles: any Service = Roles(configuration: configuration, hub: hub, loops: loops, logger: logger)
        // Stopped from the last to the first: the roles say goodbye while the hub still listens.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: ((hub.map { [$0] } ?? []) + [roles]).map {
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

    private func makeHub(logger: Logger) throws(IoTError) -> LinkHub? {
        guard configuration.hub.enabled else {
            guard configuration.cameras.isEmpty else {
                throw IoTError(.invalidConfiguration, "cameras: need the hub of this daemon (hub.enabled: true)")
            }
            guard configuration.link.endpoint != nil, configuration.link.accessId != nil,
                configuration.link.tokenFile != nil
            else {
                throw IoTError(
                    .invalidConfiguration, "without a hub, link.endpoint, link.accessId and link.tokenFile are needed")
            }
            return nil
        }
        let endpoint: BrokerSupervisor.EndpointChoice =
            switch configuration.hub.listen {
            case .unix: .unixSocket
            case .loopback(let port): .loopback(port: port)
            }
        return try LinkHub(
            HubConfiguration(
                dataDirectory: configuration.dataDirectory, mosquittoPath: configuration.hub.mosquitto,
                endpoint: endpoint),
            logger: logger)
    }
}
