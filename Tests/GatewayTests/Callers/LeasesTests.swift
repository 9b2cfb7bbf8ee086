import IoTCore
import Synchronization
import Testing

@testable import Gateway

/// The mechanism that ends operations in a caller's name.
@Suite struct LeasesTests {
    private final class World: Sendable {
        let state = Mutex<(wall: Int64, error: IoTError?, mayView: Bool?, asked: Int, abandoned: Int)>(
            (1_000_000, nil, true, 0, 0))

        var leases: Leases {
            Leases(
                wall: { self.state.withLock { $0.wall } },
                checkToken: { _ in
                    let error = self.state.withLock { state in
                        state.asked += 1
                        return state.error
                    }
                    if let error { throw error }
                }, may: { _, _, _ in self.state.withLock { $0.mayView } })
        }

        func begin(_ leases: Leases, token: String? = "a.b.c") -> Lease {
            var caller = Caller(
                credentials: .socket(user: 0, process: 1), account: AccessID(rawValue: "guest")!,
                isAdministrator: false)
            caller.bearer = token.flatMap { BearerToken($0.utf8) }.map { Bearer(token: $0, expires: 1001) }
            return leases.begin(caller) { self.state.withLock { $0.abandoned += 1 } }
        }
    }

    @Test("A lease ends when the token expires, even if the hub cannot be asked")
    func expiry() throws {
        let world = World()
        let leases = world.leases
        let lease = world.begin(leases)
        #expect(leases.review().isEmpty)
        try lease.check()
        world.state.withLock { $0.wall = 1_001_000 }
        #expect(leases.review().isEmpty, "its holder has time to end by itself")
        #expect(throws: IoTError.self) { try lease.check() }
        #expect(leases.review().count == 1)
    }

    @Test("A lease ends when the token is revoked, but not because the hub is unreachable")
    func revocation() async throws {
        let world = World()
        let leases = world.leases
        let lease = world.begin(leases)
        for code in [ErrorCode.linkUnavailable, .messageTimeout, .tooManyRequests] {
            world.state.withLock { $0.error = IoTError(code) }
            await leases.askHub()
            try lease.check()
        }
        world.state.withLock { $0.error = IoTError(.unauthenticated) }
        await leases.askHub()
        let error = #expect(throws: IoTError.self) { try lease.check() }
        #expect(error?.code == .unauthenticated)
        await #expect(throws: IoTError.self) { try await lease.ended() }
    }

    @Test("A lease ends with the binding to a device that it needs, even on the Unix socket")
    func binding() async throws {
        let world = World()
        let leases = world.leases
        let (viewer, other) = (world.begin(leases, token: nil), world.begin(leases, token: nil))
        viewer.needs(device: "d")
        world.state.withLock { $0.mayView = nil }
        await leases.askHub()
        try viewer.check()
        world.state.withLock { $0.mayView = false }
        await leases.askHub()
        let error = #expect(throws: IoTError.self) { try viewer.check() }
        #expect(error?.code == .relationInvalid)
        try other.check()
    }

    @Test("A token is checked once for all its leases, and ended leases cause no checks")
    func cost() async throws {
        let world = World()
        let leases = world.leases
        var held = (0..<100).map { _ in world.begin(leases) }
        held += (0..<20).map { world.begin(leases, token: "a.b.\($0)") }
        await leases.askHub()
        #expect(world.state.withLock { $0.asked } == 21)
        #expect(leases.count == 120)
        held = []
        #expect(leases.count == 0)
        await leases.askHub()
        #expect(world.state.withLock { $0.asked } == 21)
    }

    @Test("A lease returns its parts with its last reference")
    func parts() throws {
        let quotas = Quotas()
        let world = World()
        let leases = world.leases
        var lease: Lease? = world.begin(leases)
        let holder = AccountHolder.account(AccessID(rawValue: "guest")!)
        lease?.keep(try quotas.take(.calls, for: holder))
        #expect(quotas.table[.calls]?.used == 1)
        lease = nil
        #expect(quotas.table[.calls]?.used == 0)
    }
}
