import GatewayAPI
import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import Gateway

@Suite struct AccountRightsTests {
    private final class Hub: Sendable {
        let state = Mutex<(asked: Int, error: IoTError?, actions: Set<DeviceAction>)>((0, nil, [.view]))

        func load() throws -> [AccountRights.Entry] {
            let (error, actions) = state.withLock { state in
                state.asked += 1
                return (state.error, state.actions)
            }
            if let error { throw error }
            return [AccountRights.Entry(id: "a", name: "front", actions: actions)]
        }

        var asked: Int { state.withLock { $0.asked } }
    }

    private let own = AccessID(rawValue: "owner")!
    private let user = AccessID(rawValue: "guest")!

    @Test("The hub is asked once for many checks, and again after bindings have changed")
    func memory() async throws {
        let hub = Hub()
        let rights = AccountRights(own: own) { _ in try hub.load() }
        for _ in 0..<10 { #expect(await rights.mayView("a", user)) }
        #expect(hub.asked == 1)
        hub.state.withLock { $0.actions = [.control] }
        await rights.invalidate()
        #expect(await !rights.mayView("a", user))
        #expect(hub.asked == 2)
        #expect(await !rights.mayView("b", user))
    }

    @Test("The rights of the daemon's own account, whose changes are pushed, are kept for longer")
    func own() async throws {
        let hub = Hub()
        let start = NIODeadline.now()
        let clock = Mutex(start)
        let rights = AccountRights(own: own, now: { clock.withLock { $0 } }) { _ in try hub.load() }
        for account in [own, user] { #expect(await rights.mayView("a", account)) }
        #expect(hub.asked == 2)
        clock.withLock { $0 = start + AccountRights.memory + .nanoseconds(1) }
        for account in [own, user] { #expect(await rights.mayView("a", account)) }
        #expect(hub.asked == 3)
        clock.withLock { $0 = start + AccountRights.ownMemory + .nanoseconds(1) }
        #expect(await rights.mayView("a", own))
        #expect(hub.asked == 4)
    }

    @Test("If the hub refuses, no account may view anything")
    func refusal() async throws {
        let hub = Hub()
        hub.state.withLock { $0.error = IoTError(.forbidden) }
        let rights = AccountRights(own: own) { _ in try hub.load() }
        #expect(await !rights.mayView("a", user))
    }
}
