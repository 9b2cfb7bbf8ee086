import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Resolves server names with the C library, which may block for a long time. It uses two threads of its own, so that
/// an unreachable name server blocks nothing else in this process.
///
/// Concurrent queries for one name share the result. At most 64 names wait; a further one gets no address.
final class NameResolver: Sendable {
    static let shared = NameResolver()
    static let maximumNames = 64
    private static let maximumAddresses = 8

    private let pool = NIOThreadPool(numberOfThreads: 2)
    private let lookUp: @Sendable (String) -> [SocketAddress]
    private let waiting = Mutex<[String: [EventLoopPromise<[SocketAddress]>]]>([:])

    /// - Parameter lookUp: may block.
    init(lookUp: @escaping @Sendable (String) -> [SocketAddress] = NameResolver.systemAddresses) {
        self.lookUp = lookUp
        pool.start()
    }

    /// - Returns: the addresses; empty when the name does not exist or too many names wait. It never fails.
    func addresses(of name: String, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        let promise = eventLoop.makePromise(of: [SocketAddress].self)
        let place = waiting.withLock { waiting -> Place in
            if waiting[name] == nil, waiting.count >= Self.maximumNames { return .full }
            waiting[name, default: []].append(promise)
            return waiting[name]?.count == 1 ? .first : .shared
        }
        switch place {
        case .full: promise.succeed([])
        case .shared: break
        case .first:
            pool.submit { state in
                let addresses = state == .active ? self.lookUp(name) : []
                let promises = self.waiting.withLock { $0.removeValue(forKey: name) ?? [] }
                for promise in promises { promise.succeed(addresses) }
            }
        }
        return promise.futureResult
    }

    private enum Place {
        case first, shared, full
    }

    /// In the order of RFC 6724, which the C library applies.
    @Sendable static func systemAddresses(_ name: String) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee, addresses.count < maximumAddresses {
            if entry.ai_family == AF_INET, let bytes = entry.ai_addr {
                bytes.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            } else if entry.ai_family == AF_INET6, let bytes = entry.ai_addr {
                bytes.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            }
            next = entry.ai_next
        }
        return addresses
    }
}
