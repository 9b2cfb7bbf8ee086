import NIOCore

extension Channel {
    /// Sends one datagram through the socket of a datagram channel. If the system does not accept it, it is lost, like any
    /// other.
    ///
    /// NIO would close the channel after most errors of a send, and a stranger can cause some: an answer to the source port
    /// 0 fails with EINVAL.
    func sendDatagram(_ bytes: [UInt8], to address: SocketAddress) {
        guard eventLoop.inEventLoop else { return eventLoop.execute { self.sendDatagram(bytes, to: address) } }
        // An active channel has its descriptor, which changes only on this loop.
        guard isActive else { return }
        _ = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { descriptor in
            MulticastSocket.send(bytes, to: address, through: descriptor)
        }
    }
}
