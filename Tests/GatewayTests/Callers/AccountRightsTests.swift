import GatewayAPI
import IoTCore
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

    private let user = AccessID(rawValue: "guest")!

    @Test("The hub is asked once for many checks, and again after bindings have changed")
    func memory() async throws {
        let hub = Hub()
        let rights = AccountRights { _ in try hub.load() }
        for _ in 0..<10 { #expect(await rights.mayView("a", user)) }
        #expect(hub.asked == 1)
        hub.state.withLock { $0.actions = [.control] }
        await rights.invalidate()
        #expect(await !rights.mayView("a", user))
        #expect(hub.asked == 2)
        #expect(await !rights.mayView("b", user))
    }

    @Test("If the hub refuses, no account may view anything")
    func refusal() async throws {
        let hub = Hub()
        hub.state.withLock { $0.error = IoTError(.forbidden) }
        let rights = AccountRights { _ in try hub.load() }
        #expect(await !rights.mayView("a", user))
    }
}
