import Dispatch
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import PeerTransport

@Suite(.timeLimit(.minutes(1))) struct NameResolverTests {
    private let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let address: SocketAddress

    init() throws {
        address = try SocketAddress(ipAddress: "192.0.2.7", port: 0)
    }

    @Test("Concurrent queries for one name share the look-up; a later query looks it up again")
    func shares() async throws {
        let count = Atomic<Int>(0)
        let gate = DispatchSemaphore(value: 0)
        let resolver = NameResolver { [address] name in
            count.add(1, ordering: .relaxed)
            gate.wait()
            gate.signal()
            return name == "stun.example" ? [address] : []
        }
        let answers = (1...5).map { _ in resolver.addresses(of: "stun.example", on: eventLoop) }
        gate.signal()
        for answer in answers { #expect(try await answer.get() == [address]) }
        #expect(count.load(ordering: .relaxed) == 1)
        #expect(try await resolver.addresses(of: "stun.example", on: eventLoop).get() == [address])
        #expect(count.load(ordering: .relaxed) == 2)
    }

    @Test("While a name server does not respond, 64 names wait, a further one has no address, and none is lost")
    func bounds() async throws {
        let gate = DispatchSemaphore(value: 0)
        let resolver = NameResolver { [address] _ in
            gate.wait()
            gate.signal()
            return [address]
        }
        let answers = (1...NameResolver.maximumNames).map { resolver.addresses(of: "\($0).example", on: eventLoop) }
        #expect(try await resolver.addresses(of: "one-more.example", on: eventLoop).get() == [])
        gate.signal()
        for answer in answers { #expect(try await answer.get() == [address]) }
        #expect(try await resolver.addresses(of: "one-more.example", on: eventLoop).get() == [address])
    }

    @Test("The system resolves the loopback address, and no invalid name")
    func system() {
        #expect(NameResolver.systemAddresses("127.0.0.1").first?.ipAddress == "127.0.0.1")
        #expect(NameResolver.systemAddresses("::1").first?.ipAddress == "::1")
        #expect(NameResolver.systemAddresses("no host").isEmpty)
    }
}
