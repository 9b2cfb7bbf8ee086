import IoTCore
import IoTLink
import PeerTransport
import Testing

@testable import MediaChannel

@Suite struct CallTableTests {
    private final class Receiver: CallClient.Receiver {
        func invited(
            offer: SessionDescription, iceServers: [ICEServer]
        ) async throws(IoTError) -> SessionDescription { offer }
        func trickled(candidate: String) {}
        func ended(_ reason: IoTError) {}
    }

    private let table = CallTable()
    private let front = DeviceID.random()
    private let receiver = Receiver()
    private var speaker: String { "d/\(front)" }

    private func request(_ session: String, from principal: String?) -> LinkRequest {
        LinkRequest(
            id: "1", method: CallMethod.trickle.name, from: principal.flatMap { Principal($0) },
            params: ["session": .string(session)], t: 0, deadline: 1)
    }

    @Test("The called device alone speaks in a call")
    func speakers() throws {
        try table.add(receiver, session: "a", device: front)
        #expect(try table.receiver(of: request("a", from: speaker)) === receiver)
        for stranger in ["d/\(DeviceID.random())", "u/\(front)", nil] {
            let error = #expect(throws: IoTError.self) { try table.receiver(of: request("a", from: stranger)) }
            #expect(error?.code == .callTargetNotFound)
        }
        #expect(throws: IoTError.self) { try table.receiver(of: request("b", from: speaker)) }
    }

    @Test("A call that ended makes room: thousands one after the other never fill the table, one too many at once does")
    func room() throws {
        for number in 0..<(3 * CallTable.limit) {
            try table.add(receiver, session: "\(number)", device: front)
            table.remove(session: "\(number)")
        }
        for number in 0..<CallTable.limit { try table.add(receiver, session: "\(number)", device: front) }
        #expect(throws: IoTError.self) { try table.add(receiver, session: "one more", device: front) }
        #expect(throws: IoTError.self) { try table.receiver(of: request("one more", from: speaker)) }
        table.remove(session: "5")
        try table.add(receiver, session: "one more", device: front)
        // A session twice would put one caller in the other's place.
        table.remove(session: "6")
        #expect(throws: IoTError.self) { try table.add(receiver, session: "7", device: front) }
    }
}
