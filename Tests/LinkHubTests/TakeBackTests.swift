import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("State that is not in the store, after a batch could not be stored")
struct TakeBackTests {
    /// Decides what is due; this cannot be stored.
    private func failTimeout(_ hub: inout CoreFixture, stored: HubState) {
        let time = hub.time
        _ = hub.core.handleTimeout(at: time)
        hub.core.takeBack()
        hub.core.restore(stored)
    }

    @Test("The credential of a used enrolment is still removed")
    func exchanged() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let made = try hub.request(hub.owner, "token.enrol")
        let id = try #require(made?.result["id"]?.stringValue)
        let box = LinkAddress.random(try #require(Principal(kind: .enrolment, id: id)))
        #expect(try hub.request(box, "enrol.exchange")?.code == .success)
        hub.advance(.milliseconds(EnrolmentRecord.repeatTime))
        failTimeout(&hub, stored: hub.core.state)
        _ = hub.timeout()
        let removed = hub.outputs.contains { output in
            if case .removeCredential(id) = output { true } else { false }
        }
        #expect(removed)
    }

    @Test("The last use of a token is still stored")
    func used() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let made = try hub.request(hub.guest, "token.createAPI", ["ttlSeconds": 1000])?.result ?? .null
        let id = try #require(made["id"]?.stringValue)
        let stored = hub.core.state
        let time = hub.time.seconds
        #expect(try hub.request(hub.stranger, "token.check", ["token": made["token"] ?? .null])?.code == .success)
        hub.advance(.seconds(2))
        failTimeout(&hub, stored: stored)
        _ = hub.timeout()
        #expect(hub.stored.contains(.use(.token(id), at: time)))
    }
}
