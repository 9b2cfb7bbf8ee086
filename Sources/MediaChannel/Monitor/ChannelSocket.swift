import IoTCore
import Logging
import NIOCore
import PeerTransport
import Synchronization

/// The socket of one channel.
///
/// A gateway has one socket for all its channels. Two connections cannot share both ends (`PeerSocket`), so if there
/// are several channels to one device, for example of several accounts, only the first uses that socket. Each other one
/// has its own socket, on a free port of the same address.
final class ChannelSocket: Sendable {
    private let shared: PeerSocket
    private let isOwn: Bool
    private let logger: Logger
    private let state = Mutex<(own: PeerSocket?, isClosed: Bool)>((nil, false))

    init(shared: PeerSocket, isOwn: Bool, logger: Logger) {
        self.shared = shared
        self.isOwn = isOwn
        self.logger = logger
    }

    /// The event loop of both sockets.
    var eventLoop: any EventLoop { shared.eventLoop }

    /// Returns the socket; an own socket is bound at the first call.
    func open() async throws(IoTError) -> PeerSocket {
        guard isOwn else { return shared }
        if let own = state.withLock({ $0.own }) { return own }
        let socket: PeerSocket
        do {
            var address = shared.localAddress
            address.port = 0
            socket = try await PeerSocket.bind(to: address, on: eventLoop, logger: logger)
        } catch {
            throw IoTError(.connectFailed, "no socket for another channel to the device: \(error)", underlying: error)
        }
        let isKept = state.withLock { state in
            guard !state.isClosed, state.own == nil else { return false }
            state.own = socket
            return true
        }
        guard isKept else {
            await socket.close()
            throw IoTError(.hungUp)
        }
        return socket
    }

    /// Closes the channel's own socket; the shared one stays open.
    func close() async {
        let own = state.withLock { state in
            state.isClosed = true
            return state.own.take()
        }
        await own?.close()
    }
}
