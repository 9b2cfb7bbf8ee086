import Glibc
import NIOCore

/// The process at the other end of a Unix socket, as reported by the kernel (unix(7), SO_PEERCRED).
struct PeerCredentials: Sendable, Hashable {
    var process: Int32
    var user: UInt32

    /// `struct ucred`, which Glibc declares for _GNU_SOURCE only.
    private struct Kernel {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    /// `nil` if the channel is not a Unix socket.
    static func of(_ channel: any Channel) async -> PeerCredentials? {
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let credentials: EventLoopFuture<Kernel> = provider.unsafeGetSocketOption(
            level: .init(SOL_SOCKET), name: .init(SO_PEERCRED))
        let peer = try? await credentials.map { PeerCredentials(process: $0.process, user: $0.user) }.get()
        // For sockets without a Unix peer, the kernel returns process 0.
        guard let peer, peer.process > 0 else { return nil }
        return peer
    }
}
