package import NIOCore

extension LANConnection {
    /// The options of tcp(7) that NIO does not define, with which a peer that has vanished is noticed after 100 s, whether
    /// data waits for it or not.
    private static let options: [(ChannelOptions.Types.SocketOption, Int)] = [
        (.init(level: .socket, name: .so_keepalive), 1),
        (.init(level: .tcp, name: .tcp_nodelay), 1),
        (.init(level: .tcp, name: .init(rawValue: 4)), 60),  // TCP_KEEPIDLE, s
        (.init(level: .tcp, name: .init(rawValue: 5)), 10),  // TCP_KEEPINTVL, s
        (.init(level: .tcp, name: .init(rawValue: 6)), 4),  // TCP_KEEPCNT
        (.init(level: .tcp, name: .init(rawValue: 18)), 100_000),  // TCP_USER_TIMEOUT, ms
    ]

    /// Prepares a new TCP connection, to whose pipeline TLS has been added. Called on its event loop.
    package static func client(_ channel: any Channel) throws -> Client {
        for (option, value) in options { try channel.syncOptions?.setOption(option, value: value) }
        return try Client(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 4)))
    }
}
