import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

/// Uses virtual time.
@Suite struct BackChannelGateTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func name(_ answer: BackChannelGate.Answer) -> String {
        switch answer {
        case .open: "open"
        case .wait: "wait"
        case .ready: "ready"
        case .refused(let error): error.code.name
        }
    }

    /// `#expect` does not accept a mutating method.
    private func closes(_ gate: inout BackChannelGate, at now: NIODeadline) -> Bool { gate.closes(at: now) }

    @Test("The session is opened at the first sound, and closed five seconds after the last")
    func linger() {
        var gate = BackChannelGate(at: Self.start)
        #expect(closes(&gate, at: Self.start + .hours(1)) == false)
        #expect(name(gate.request(at: Self.start)) == "open" && name(gate.request(at: Self.start)) == "wait")
        #expect(closes(&gate, at: Self.start + .seconds(9)) == false)
        gate.opened()
        let last = Self.start + .seconds(7)
        #expect(name(gate.request(at: last)) == "ready")
        #expect(closes(&gate, at: last + .milliseconds(4_999)) == false)
        #expect(closes(&gate, at: last + .seconds(5)) && gate.state == .closed)
        #expect(name(gate.request(at: last + .seconds(6))) == "open")
    }

    @Test("A camera that has refused is asked again after a minute; one that refused the password, after two")
    func refusals() {
        for (code, pauses) in [(ErrorCode.backChannelMissing, [60, 60, 60]), (.sourceRefused, [120, 240, 480])] {
            var gate = BackChannelGate(at: Self.start)
            var now = Self.start
            for pause in pauses {
                #expect(name(gate.request(at: now)) == "open")
                gate.failed(IoTError(code), at: now)
                now = now + .seconds(Int64(pause))
                #expect(name(gate.request(at: now - .milliseconds(1))) == code.name)
            }
            #expect(name(gate.request(at: now)) == "open")
            gate.opened()
            // A connection that was lost during a talk is made again at once.
            gate.failed(IoTError(.sourceUnreachable), at: now)
            #expect(name(gate.request(at: now)) == "open")
        }
    }
}
