import GatewayAPI
import IoTCore
import Testing

@Suite struct GatewayEventTests {
    private let events: [GatewayEvent] = [
        .link(
            LinkState(
                .offline, cause: "connectionLost", reason: IoTError(.linkUnavailable), since: 1, accessId: "owner")),
        .presence(DevicePresence(device: "d", online: true)),
        .property(
            PropertyUpdate(
                device: "d", path: "ProWritable.a", value: .null, version: 2,
                changes: [LeafChange(path: "ProWritable.a.setVal", value: .null)])),
        .event(StoredEvent(id: "7", device: "d", topic: "a/b", body: .null, t: 3)),
        .data(DeviceData(device: "d", data: "AA==")),
        .binding(BindingChange(device: "d", bound: true, name: "front", role: "guest", actions: [.view])),
        .channel(
            ChannelChange(
                id: "c", device: "d", deviceName: "front",
                state: ChannelState(connection: .connected, player: .playing), closed: false)),
        .reset(EventReset(reason: .tooOld)),
        .failed(APIError(IoTError(.slowReader))),
    ]

    @Test("Every event and its id are decoded as they were encoded")
    func roundTrip() throws {
        var parser = ServerSentEventParser()
        for (number, event) in events.enumerated() {
            var sent = try event.serverSentEvent
            sent.id = "run-\(number)"
            let received = try #require(parser.receive(sent.text.utf8).first)
            #expect(received == sent)
            #expect(try GatewayEvent(received) == event)
            #expect(event.kind.map(\.rawValue) == (number < 7 ? received.name : nil))
        }
    }

    @Test("An id applies until the next one (HTML Living Standard §9.2.6)")
    func lastID() {
        var parser = ServerSentEventParser()
        let text = "id: 1\n\nevent: a\ndata: x\n\nid: 2\ndata: y\n\nid\ndata: z\n\n"
        #expect(parser.receive(text.utf8).map(\.id) == ["1", "2", "2"])
    }

    @Test("Events of messages are decoded as they were encoded; unknown ones are skipped")
    func messages() throws {
        for event in [
            MessageEvent.response(MessageData(data: "AA==")), .end, .failed(APIError(IoTError(.peerTimeout))),
        ] {
            #expect(try MessageEvent(try event.serverSentEvent) == event)
        }
        #expect(try MessageEvent(ServerSentEvent(name: "new", data: "{}")) == nil)
        #expect(try GatewayEvent(ServerSentEvent(name: "new", data: "{}")) == nil)
    }
}
