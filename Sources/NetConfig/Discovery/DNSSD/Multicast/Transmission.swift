import NIOCore

/// A packet to be sent on a link.
struct Transmission: Hashable {
    enum Destination: Hashable {
        /// 224.0.0.251 or [FF02::FB], port 5353.
        case group
        case unicast(SocketAddress)
    }

    var bytes: [UInt8]
    var destination: Destination

    static let port = 5353
}
