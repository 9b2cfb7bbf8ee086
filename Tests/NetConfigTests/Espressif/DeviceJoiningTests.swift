import IoTCore
import NIOCore
import Testing

@testable import NetConfig

/// The part of the provisioning mode that all protocols share, in virtual time.
@Suite struct DeviceJoiningTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let joined = WiFiOutcome.connected(WiFiConnection(ssid: Array("Home".utf8)))
    private let failed: Result<String?, IoTError> = .failure(IoTError(.linkUnavailable))

    private let core = DeviceJoining(lifetime: .minutes(10), at: Self.start)

    private func at(_ seconds: Int64) -> NIODeadline { Self.start + .seconds(seconds) }

    private func network(_ ssid: String = "Home") throws -> WiFiCredentials {
        try WiFiCredentials(ssid: ssid, password: "correct horse")
    }

    private func order(_ token: String = "first") throws -> BindOrder {
        try BindOrder(hub: "iotlink://192.0.2.2:8883", token: token)
    }

    private func steps(_ core: inout DeviceJoining) -> [String] {
        core.takeSteps().compactMap { step in
            switch step {
            case .apply(let credentials): "apply \(credentials.ssid)"
            case .bind(let order): "bind \(order.token)"
            case .timeout: nil
            case .end(let end): "end \(end)"
            }
        }
    }

    /// Whether the shell was asked to call `timeout` at this time.
    private func isTimed(_ core: inout DeviceJoining, at time: NIODeadline) -> Bool {
        core.takeSteps().contains { if case .timeout(time) = $0 { true } else { false } }
    }

    // MARK: The end of the mode

    @Test("The mode does not end during an attempt; after the result it lasts long enough to read it")
    func lateAttempt() throws {
        var core = self.core
        core.apply(try network(), try order(), at: at(595))
        core.timeout(at: at(600))
        #expect(steps(&core) == ["apply Home"])
        core.applied(joined, at: at(601))
        core.timeout(at: at(602))
        #expect(steps(&core) == ["bind first"])
        core.bound(.success(nil), at: at(610))
        #expect(core.bindState == .bound)
        #expect(isTimed(&core, at: at(670)))
        core.outcomeRead(at: at(611))
        core.timeout(at: at(614))
        #expect(steps(&core) == ["end bound"])
    }

    @Test("After an attempt that fails late, the mode ends, and no other attempt begins")
    func lateFailure() throws {
        var core = self.core
        core.apply(try network(), try order(), at: at(595))
        core.apply(try network("Shed"), try order("second"), at: at(598))
        core.applied(joined, at: at(601))
        core.bound(failed, at: at(610))
        core.apply(try network("Shed"), at: at(611))
        core.take(try order("third"), at: at(612))
        core.timeout(at: at(613))
        #expect(steps(&core) == ["apply Home", "bind first", "end timedOut"])
    }

    @Test("An order that arrives just before the end of a connected device's mode restores the mode's lifetime")
    func lateOrder() throws {
        var core = self.core
        core.apply(try network(), at: at(0))
        core.applied(joined, at: at(1))
        core.outcomeRead(at: at(2))
        core.take(try order(), at: at(4))
        core.timeout(at: at(5))
        #expect(steps(&core) == ["apply Home", "bind first"])
        core.bound(failed, at: at(15))
        core.take(try order("second"), at: at(100))
        core.bound(.success(nil), at: at(101))
        core.timeout(at: at(161))
        #expect(steps(&core) == ["bind second", "end bound"])
    }

    @Test("Without an attempt the mode ends at the end of its lifetime")
    func lifetime() throws {
        var core = self.core
        core.apply(try network(), at: at(0))
        core.applied(.wrongPassword, at: at(1))
        core.timeout(at: at(600))
        #expect(steps(&core) == ["apply Home", "end timedOut"])
    }

    // MARK: The next request

    @Test("The order of a failed attempt is not used for a network without an order", arguments: [false, true])
    func staleOrder(isHubFailure: Bool) throws {
        var core = self.core
        core.expectNetwork()
        core.take(try order("stranger's"), at: at(0))
        core.apply(try network("Stranger"), at: at(0))
        core.applied(isHubFailure ? joined : .wrongPassword, at: at(1))
        if isHubFailure { core.bound(failed, at: at(2)) }
        _ = steps(&core)
        core.expectNetwork()
        core.apply(try network(), at: at(3))
        #expect(core.bindState == .unbound)
        core.applied(joined, at: at(4))
        core.timeout(at: at(64))
        #expect(steps(&core) == ["apply Home", "end connected"])
    }

    @Test("An order may arrive before its network; a new client does not inherit it", arguments: [false, true])
    func orderFirst(isNewClient: Bool) throws {
        var core = self.core
        core.take(try order(), at: at(0))
        if isNewClient { core.beginSession() }
        core.expectNetwork()
        core.apply(try network(), at: at(1))
        core.applied(joined, at: at(2))
        #expect(steps(&core) == (isNewClient ? ["apply Home"] : ["apply Home", "bind first"]))
    }

    @Test("Another network during an attempt is joined after it; the same network is a repetition")
    func otherNetwork() throws {
        var core = self.core
        core.apply(try network(), at: at(0))
        core.expectNetwork()
        core.apply(try network(), at: at(1))
        core.expectNetwork()
        core.take(try order("second"), at: at(2))
        core.apply(try network("Shed"), at: at(2))
        #expect(steps(&core) == ["apply Home"])
        core.applied(joined, at: at(3))
        #expect(steps(&core) == ["apply Shed"])
        core.applied(joined, at: at(4))
        #expect(steps(&core) == ["bind second"])
    }

    @Test("Another network during a binding is joined if the binding fails")
    func networkWhileBinding() throws {
        for isBound in [false, true] {
            var core = self.core
            core.apply(try network(), try order(), at: at(0))
            core.applied(joined, at: at(1))
            core.expectNetwork()
            core.apply(try network("Shed"), at: at(2))
            core.bound(isBound ? .success(nil) : failed, at: at(3))
            #expect(steps(&core) == ["apply Home", "bind first"] + (isBound ? [] : ["apply Shed"]))
        }
    }

    @Test("After a repetition during an attempt, a later order is used at once")
    func orderAfterRepetition() throws {
        var core = self.core
        core.apply(try network(), at: at(0))
        core.expectNetwork()
        core.apply(try network(), at: at(1))
        core.applied(joined, at: at(2))
        core.take(try order(), at: at(3))
        #expect(steps(&core) == ["apply Home", "bind first"])
    }
}
