import GatewayAPI
import IoTCore
import Testing

@testable import Gateway

@Suite struct EventFeedTests {
    private func presence(_ device: String, _ online: Bool = true) -> GatewayEvent {
        .presence(DevicePresence(device: device, online: online))
    }

    private func caller(_ account: String = "owner", _ scope: Caller.Scope = .all) -> Caller {
        Caller(
            credentials: .token("1"), account: AccessID(rawValue: account)!, isAdministrator: false, scope: scope)
    }

    private func reader(
        _ feed: EventFeed, _ caller: Caller, kinds: Set<GatewayEvent.Kind> = Set(GatewayEvent.Kind.allCases),
        device: String? = nil, mayView: @escaping @Sendable (String) async -> Bool = { _ in true }
    ) -> EventReader {
        EventReader(feed: feed, caller: caller, kinds: kinds, device: device, mayView: mayView)
    }

    private func collect(_ events: AsyncStream<NumberedEvent>) async -> [NumberedEvent] {
        var all: [NumberedEvent] = []
        for await event in events { all.append(event) }
        return all
    }

    @Test("A reader that reconnects gets exactly the events that it missed")
    func resume() async throws {
        let feed = EventFeed(capacity: 8, run: "aa")
        for number in 0..<5 { feed.publish(presence("\(number)"), to: .viewers(device: "\(number)")) }
        let events = reader(feed, caller()).events(after: "aa-3")
        feed.finish()
        let all = await collect(events)
        #expect(all.map(\.id) == ["aa-4", "aa-5"])
        #expect(all.map(\.event.device) == ["3", "4"])
    }

    @Test(
        "After an id that is too old, of another run, or malformed, a reset comes first",
        arguments: [
            ("aa-1", EventReset.Reason.tooOld), ("bb-9", .restarted), ("aa-99", .restarted), ("x", .restarted),
            ("aa--1", .restarted), ("", .restarted), ("aa-18446744073709551615", .restarted),
        ])
    func reset(id: String, reason: EventReset.Reason) async throws {
        let feed = EventFeed(capacity: 4, run: "aa")
        for number in 0..<9 { feed.publish(presence("\(number)"), to: .everyone) }
        let events = reader(feed, caller()).events(after: id)
        feed.publish(presence("new"), to: .everyone)
        feed.finish()
        let all = await collect(events)
        #expect(all.first?.event == .reset(EventReset(reason: reason)))
        #expect(all.first?.id == "aa-9")
        #expect(all.dropFirst().map(\.event.device) == ["new"])
    }

    @Test("A reader can resume after the oldest event that is kept")
    func ringBoundary() async throws {
        let feed = EventFeed(capacity: 4, run: "aa")
        for number in 1...9 { feed.publish(presence("\(number)"), to: .everyone) }
        #expect(feed.resume(after: "aa-5").reset == nil)
        #expect(feed.resume(after: "aa-4").reset == .tooOld)
        let events = reader(feed, caller()).events(after: "aa-5")
        feed.finish()
        #expect(await collect(events).map(\.event.device) == ["6", "7", "8", "9"])
    }

    @Test("A reader that is too slow for the ring gets 25022, and its stream ends")
    func slowReader() async throws {
        let feed = EventFeed(capacity: 4, run: "aa")
        let events = reader(feed, caller()).events(after: nil)
        for number in 0..<9 { feed.publish(presence("\(number)"), to: .everyone) }
        let all = await collect(events)
        #expect(all.count == 1)
        guard case .failed(let error) = all.first?.event else {
            Issue.record("no failure")
            return
        }
        #expect(error.code == 25022)
        #expect(all.first?.id == nil)
    }

    @Test("A waiting reader wakes up; a cancelled one ends")
    func waiting() async throws {
        let feed = EventFeed(run: "aa")
        let events = reader(feed, caller()).events(after: nil)
        async let first = { () async -> NumberedEvent? in
            for await event in events { return event }
            return nil
        }()
        feed.publish(presence("a"), to: .everyone)
        #expect(await first?.event.device == "a")
        let silent = reader(feed, caller()).events(after: nil)
        let task = Task { await collect(silent) }
        task.cancel()
        #expect(await task.value.isEmpty)
    }

    @Test("Readers get no events of other accounts' channels and bindings, or of devices that they may not view")
    func audiences() async throws {
        let feed = EventFeed(run: "aa")
        let guest = reader(feed, caller("guest")) { $0 == "seen" }.events(after: nil)
        let limited = reader(feed, caller("guest", Caller.Scope(devices: ["other"]))).events(after: nil)
        let owner = AccessID(rawValue: "owner")!
        feed.publish(.binding(BindingChange(device: "seen", bound: true)), to: .account(owner))
        feed.publish(presence("hidden"), to: .viewers(device: "hidden"))
        feed.publish(presence("seen"), to: .viewers(device: "seen"))
        feed.publish(
            .link(LinkState(.online, cause: "connected", reason: nil, since: 0, accessId: "owner")), to: .everyone)
        feed.finish()
        #expect(await collect(guest).map { $0.event.kind } == [.presence, .link])
        #expect(await collect(limited).map { $0.event.kind } == [.link])
    }

    @Test("An account that lost a device gets no more of its events")
    func lost() async throws {
        let feed = EventFeed(run: "aa")
        let rights = AccountRights(own: AccessID(rawValue: "owner")!) { _ in [] }
        let viewer = caller("guest")
        let events = reader(feed, viewer) { await rights.mayView($0, viewer.account) }.events(after: nil)
        feed.publish(presence("a"), to: .viewers(device: "a"))
        feed.finish()
        #expect(await collect(events).isEmpty)
    }

    @Test("Only the requested kinds and device are sent")
    func filters() async throws {
        let feed = EventFeed(run: "aa")
        let presences = reader(feed, caller(), kinds: [.presence]).events(after: nil)
        let device = reader(feed, caller(), device: "a").events(after: nil)
        feed.publish(presence("a"), to: .everyone)
        feed.publish(.data(DeviceData(device: "b", data: "")), to: .everyone)
        feed.publish(.data(DeviceData(device: "a", data: "")), to: .everyone)
        feed.finish()
        #expect(await collect(presences).map { $0.event.kind } == [.presence])
        #expect(await collect(device).map { $0.event.device } == ["a", "a"])
    }
}
