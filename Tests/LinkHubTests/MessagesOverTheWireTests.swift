import IoTCore
import IoTLink
import LinkHub
import NIOConcurrencyHelpers
import Testing
import ThingModel

@Suite("Messages and events over a real broker", .serialized, .timeLimit(.minutes(2)))
struct MessagesOverTheWireTests {
    /// Runs `body` with the owner's and the device's sessions.
    private func withPair(
        _ body: @escaping @Sendable (_ owner: LinkSession, _ device: LinkSession) async throws -> Void
    ) async throws {
        let directory = TemporaryDirectory()
        try await withHub(in: directory) { hub in
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            try await withSession(hub, .device(device), deviceToken) { camera in
                try await withSession(hub, owner, ownerToken) { user in try await body(user, camera) }
            }
        }
    }

    @Test("Acknowledged, one response, many responses, the device's own code, and no handler")
    func messages() async throws {
        try await withPair { user, camera in
            let client = MessageClient(link: user)
            let error = await #expect(throws: IoTError.self) { _ = try await client.request("front", [1]) }
            #expect(error?.code == .devicePassThroughFailed)

            let taken = NIOLockedValueBox<[DeviceMessage]>([])
            let device = DeviceMessages(link: camera)
            device.onMessage { message, responder in
                taken.withLockedValue { $0.append(message) }
                switch message.text {
                case "count":
                    for number in 1...40 { try responder.send(text: "\(number)") }
                case "silent": return
                case "refuse": throw IoTError(.userCommandType, "no such command")
                default: try responder.send(message.data)
                }
            }
            try await client.send("front", Array("hello".utf8))
            #expect(taken.withLockedValue { $0.map(\.text) } == ["hello"])
            #expect(taken.withLockedValue { $0.first?.from?.description } == "u/owner")
            let large = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(try await client.request("front", large) == large)
            var counted: [String] = []
            for try await response in try client.responses("front", Array("count".utf8)) {
                counted.append(String(decoding: response, as: UTF8.self))
            }
            #expect(counted == (1...40).map(String.init))
            for (text, code) in [("silent", ErrorCode.devicePassThroughFailed), ("refuse", .userCommandType)] {
                let error = await #expect(throws: IoTError.self) {
                    _ = try await client.request("front", Array(text.utf8))
                }
                #expect(error?.code == code)
            }
            let long = await #expect(throws: IoTError.self) {
                try await client.send("front", Array(repeating: 0, count: 30_001))
            }
            #expect(long?.code == .messageTooLong)
            // A repeated request reaches the device once, and the requester gets the answer again.
            let before = taken.withLockedValue { $0.count }
            #expect(try await client.request("front", [5], id: "again") == [5])
            #expect(try await client.request("front", [5], id: "again") == [5])
            #expect(taken.withLockedValue { $0.count } == before + 1)
            var seen: [[UInt8]] = []
            for _ in 0..<2 {
                for try await response in try client.responses("front", Array("count".utf8), id: "many") {
                    seen.append(response)
                }
            }
            #expect(seen.count == 80)
            #expect(taken.withLockedValue { $0.count } == before + 2)
        }
    }

    @Test("When the sender has heard enough, the device's handler is cancelled")
    func finished() async throws {
        try await withPair { user, camera in
            let cancelled = Readiness<Void>()
            DeviceMessages(link: camera).onMessage { _, responder in
                for number in 1...3 { try responder.send(text: "\(number)") }
                do {
                    try await Task.sleep(for: .seconds(60))
                } catch {
                    cancelled.settle(.success(()))
                    throw error
                }
            }
            do {
                let responses = try MessageClient(link: user).responses("front", [1], timeout: .seconds(60))
                for try await response in responses where response == Array("2".utf8) { break }
            }
            try await cancelled.wait()
        }
    }

    @Test("A device that does not answer in time gives 20001")
    func timeout() async throws {
        try await withPair { user, camera in
            DeviceMessages(link: camera).onMessage { _, _ in
                try await Task.sleep(for: .seconds(60))
            }
            let error = await #expect(throws: IoTError.self) {
                _ = try await MessageClient(link: user).request("front", [1], timeout: .milliseconds(300))
            }
            #expect(error?.code == .peerTimeout)
        }
    }

    @Test("Events and data reach the user; events can be listed and deleted afterwards")
    func events() async throws {
        try await withPair { user, camera in
            let client = EventClient(link: user)
            let pushes = user.pushes()
            let id = try await DeviceEvents(link: camera, logger: quietLogger).report("EVENT_CAM/Motion", ["zone": 3])
            try await DeviceMessages(link: camera).push([9, 8])
            var received: ThingEvent?
            var data: DeviceData?
            for await push in pushes {
                if let event = EventMethod.event.parameters(of: push) { received = event }
                data = data ?? MessageMethod.data.parameters(of: push)
                if received != nil, data != nil { break }
            }
            #expect(received?.id == id)
            #expect(received?.body == ["zone": 3])
            #expect(data?.data == [9, 8])
            let page = try await client.list(device: "front", topic: "EVENT_CAM")
            #expect(page.events == [received])
            #expect(page.next == nil)
            #expect(try await client.delete([id]) == 1)
            #expect(try await client.list().events.isEmpty)
            let time = try await MessageClient(link: user).askServer("GET/time")
            #expect(try JSONValue(parsing: time)["t"]?.integerValue != nil)
        }
    }
}
