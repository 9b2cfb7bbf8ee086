import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import iotvideod

@Suite struct BearerTokensTests {
    /// A hub that can be told what it knows, and a clock that stands still.
    private final class World: Sendable {
        let state = Mutex<(checks: Int, isKnown: Bool, now: NIODeadline, wall: Int64)>(
            (0, true, .uptimeNanoseconds(1_000_000_000_000), 1_000_000))

        var tokens: BearerTokens {
            BearerTokens(
                now: { self.state.withLock { $0.now } }, wall: { self.state.withLock { $0.wall } },
                check: { _ in
                    let isKnown = self.state.withLock { state in
                        state.checks += 1
                        return state.isKnown
                    }
                    guard isKnown else { throw IoTError(.unauthenticated) }
                    var grant = RouterFixture.grant("1", "owner", false)
                    grant.expires = 1100
                    return grant
                })
        }

        func advance(_ time: TimeAmount) {
            state.withLock { state in
                state.now = state.now + time
                state.wall += time.nanoseconds / 1_000_000
            }
        }

        var checks: Int { state.withLock { $0.checks } }
    }

    @Test("What the hub said is good for a second, and a revoked token for no longer")
    func memory() async throws {
        let world = World()
        let tokens = world.tokens
        #expect(try await tokens.caller(of: "a.b.c").account.rawValue == "owner")
        world.state.withLock { $0.isKnown = false }
        world.advance(.milliseconds(999))
        _ = try await tokens.caller(of: "a.b.c")
        #expect(world.checks == 1)
        world.advance(.milliseconds(1))
        await #expect(throws: IoTError.self) { try await tokens.caller(of: "a.b.c") }
        #expect(world.checks == 2)
    }

    @Test("An expired token is refused also while what the hub said is remembered")
    func expiry() async throws {
        let world = World()
        let tokens = world.tokens
        world.state.withLock { $0.wall = 1_099_500 }
        _ = try await tokens.caller(of: "a.b.c")
        world.advance(.milliseconds(500))
        await #expect(throws: IoTError.self) { try await tokens.caller(of: "a.b.c") }
        #expect(world.checks == 1)
    }

    @Test("What is no token does not reach the hub", arguments: ["", "a", "a.b", "a.b.c.d", "a.b.ü", "a b.c.d"])
    func nonsense(text: String) async throws {
        let world = World()
        await #expect(throws: IoTError.self) { try await world.tokens.caller(of: text) }
        #expect(world.checks == 0)
    }

    @Test("A flood of unknown tokens costs 50 questions a second")
    func flood() async throws {
        let world = World()
        world.state.withLock { $0.isKnown = false }
        let tokens = world.tokens
        var refused = 0
        for number in 0..<200 {
            do {
                _ = try await tokens.caller(of: "a.b.\(number)")
            } catch let error as IoTError where error.code == .tooManyRequests {
                refused += 1
            } catch {}
        }
        #expect(world.checks == 50)
        #expect(refused == 150)
        world.advance(.milliseconds(1001))
        world.state.withLock { $0.isKnown = true }
        _ = try await tokens.caller(of: "a.b.good")
    }
}
