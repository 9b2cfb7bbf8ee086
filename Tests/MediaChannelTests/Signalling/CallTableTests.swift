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

    private func find(_ session: String, from sender: String?) throws(IoTError) -> any CallClient.Receiver {
        let route = CallRoute(peer: .device(front), session: session)
        return try table.receiver(of: route, from: sender.flatMap { Principal($0) })
    }

    @Test("Only the called device may send messages for a call")
    func speakers() throws {
        try table.add(receiver, session: "a", device: front)
        #expect(try find("a", from: speaker) === receiver)
        for stranger in ["d/\(DeviceID.random())", "u/\(front)", nil] {
            let error = #expect(throws: IoTError.self) { try find("a", from: stranger) }
            #expect(error?.code == .callTargetNotFound)
        }
        #expect(throws: IoTError.self) { try find("b", from: speaker) }
    }

    @Test("A call that ended makes room: thousands in succession never fill the table; one too many at once does")
    func room() throws {
        for number in 0..<(3 * CallTable.limit) {
            try table.add(receiver, session: "\(number)", device: front)
            table.remove(session: "\(number)")
        }
        for number in 0..<CallTable.limit { try table.add(receiver, session: "\(number)", device: front) }
        #expect(throws: IoTError.self) { try table.add(receiver, session: "one more", device: front) }
        #expect(throws: IoTError.self) { try find("one more", from: speaker) }
        table.remove(session: "5")
        try table.add(receiver, session: "one more", device: front)
        // A second call with the same session would replace the first caller.
        table.remove(session: "6")
        #expect(throws: IoTError.self) { try table.add(receiver, session: "7", device: front) }
    }
}
