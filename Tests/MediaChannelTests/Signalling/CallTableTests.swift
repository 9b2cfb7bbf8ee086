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
        return try table.call(of: route, from: sender.flatMap { Principal($0) }).receiver
    }

    private func add(_ session: String) throws(IoTError) {
        try table.add(
            receiver,
            CallIdentity(
                device: front, caller: .user(AccessID(rawValue: "bob")!), session: session, kind: .monitor,
                source: .main))
    }

    @Test("Only the called device may send messages for a call")
    func speakers() throws {
        try add("a")
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
            try add("\(number)")
            table.remove(session: "\(number)")
        }
        for number in 0..<CallTable.limit { try add("\(number)") }
        #expect(throws: IoTError.self) { try add("one more") }
        #expect(throws: IoTError.self) { try find("one more", from: speaker) }
        table.remove(session: "5")
        try add("one more")
        // A second call with the same session would replace the first caller.
        table.remove(session: "6")
        #expect(throws: IoTError.self) { try add("7") }
    }
}
