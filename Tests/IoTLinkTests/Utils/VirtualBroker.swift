import IoTCore
import NIOCore
import TestSupport

@testable import IoTLink

/// A machine with its connections, a broker and a hub, in virtual time. Each step moves one message on one connection,
/// which a seeded generator chooses, so that messages on different connections overtake each other in many ways.
struct VirtualBroker {
    /// One connection as the broker sees it.
    private struct Wire {
        let attempt: Int
        var isSubscribed = false
        var up: [Up] = []
        var down: [LinkSessionMachine.Transport] = []
    }

    private enum Up {
        case subscribe
        case publish([UInt8])
        case disconnect
    }

    var machine: LinkSessionMachine
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    /// Our own clock, in ms; a test may make it jump.
    var wall: Int64 = 1_700_000_000_000
    /// The hub's clock, in ms; a test may make it jump.
    var hubTime: Int64 = 1_700_000_000_000
    private let tokenLife: Int64
    /// Whether the hub issues new tokens.
    var renews = true
    private var generator: SeededGenerator
    private var wires: [Int: Wire] = [:]
    private var tokenCount = 0
    private var token = (id: "t0", issued: Int64(1_700_000_000))
    private var nextPush: Int64 = 0

    private(set) var statuses: [LinkStatus] = []
    private(set) var pushes: [Int64] = []
    private(set) var pushed: [Int64] = []
    /// The requests that the hub executed, in order.
    private(set) var executed: [String] = []
    private(set) var completed: [String: Int] = [:]
    private(set) var failures: [String] = []
    private(set) var renewals: [NIODeadline] = []
    /// The most connections that the broker had at the same time.
    private(set) var mostWires = 0
    var wireCount: Int { wires.count }

    init(seed: UInt64, tokenLife: Int64 = 6, limits: LinkLimits = LinkLimits()) {
        self.tokenLife = tokenLife
        generator = SeededGenerator(seed: seed)
        machine = LinkSessionMachine(
            principal: .user(AccessID(rawValue: "owner")!), limits: limits, generator: SeededGenerator(seed: seed),
            wall: wall)
        feed(.register)
    }

    mutating func feed(_ input: LinkSessionMachine.Input) {
        for output in machine.handle(input, at: now, wall: wall) { perform(output) }
    }

    mutating func request(_ id: String) {
        feed(
            .request(
                PendingRequests.Entry(
                    id: id, method: "test.ask", params: [:], deadline: now + .seconds(20), takesMany: false)))
    }

    mutating func push() {
        nextPush += 1
        pushed.append(nextPush)
        send(.push(LinkPush(method: "test.push", params: ["n": .integer(nextPush)])))
    }

    /// Advances the time, and delivers one message each millisecond while there are any.
    mutating func advance(_ amount: TimeAmount) {
        let end = now + amount
        while now < end {
            if !step() {
                let next = min(max(machine.nextDeadline ?? end, now + .milliseconds(1)), end)
                pass(next - now)
            } else {
                pass(.milliseconds(1))
            }
            if let deadline = machine.nextDeadline, deadline <= now { feed(.timeout) }
        }
    }

    private mutating func pass(_ time: TimeAmount) {
        now = now + time
        wall += time.nanoseconds / 1_000_000
        hubTime += time.nanoseconds / 1_000_000
    }

    /// Moves one message on one connection in one direction. Returns `false` when there was none.
    mutating func step() -> Bool {
        let ready = wires.values.flatMap { wire in
            (wire.up.isEmpty ? [] : [(wire.attempt, true)]) + (wire.down.isEmpty ? [] : [(wire.attempt, false)])
        }.sorted { ($0.0, $0.1 ? 1 : 0) < ($1.0, $1.1 ? 1 : 0) }
        guard let (attempt, isUp) = ready.randomElement(using: &generator) else { return false }
        if isUp {
            if let message = wires[attempt]?.up.removeFirst() { arrive(message, on: attempt) }
        } else if let event = wires[attempt]?.down.removeFirst() {
            if case .closed = event { wires[attempt] = nil }
            feed(.transport(attempt: attempt, event))
        }
        return true
    }

    // MARK: Performing outputs

    private var primary = 0
    private var next = 0

    private mutating func perform(_ output: LinkSessionMachine.Output) {
        switch output {
        case .connect(let attempt, _):
            primary = attempt
            open(attempt)
        case .subscribe: wires[primary]?.up.append(.subscribe)
        case .publish(_, let payload, _): wires[primary]?.up.append(.publish(payload))
        case .disconnect: wires[primary]?.up.append(.disconnect)
        case .handover(.connect(let attempt, _, _)):
            next = attempt
            open(attempt)
        case .handover(.subscribe): wires[next]?.up.append(.subscribe)
        case .handover(.publish(_, let payload)): wires[next]?.up.append(.publish(payload))
        case .handover(.adopt):
            wires[primary]?.up.append(.disconnect)
            primary = next
        case .handover(.abandon): wires[next]?.up.append(.disconnect)
        case .status(let change): statuses.append(change.status)
        case .push(let push): if let n = push.params["n"]?.integerValue { pushes.append(n) }
        case .complete(let id, let outcome):
            completed[id, default: 0] += 1
            if case .failure(let error) = outcome { failures.append("\(id): \(error)") }
        case .renewed: token = ("t\(tokenCount)", hubTime / 1_000)
        case .answer, .execute, .finished, .ownership, .grantTrust, .rightsWithdrawn, .finish: break
        }
    }

    private mutating func open(_ attempt: Int) {
        wires[attempt] = Wire(attempt: attempt, down: [.connected])
        mostWires = max(mostWires, wires.count)
        let json: JSONValue = [
            "jti": .string(token.id), "iat": .integer(token.issued), "exp": .integer(token.issued + tokenLife),
        ]
        let text = "e30.\(Base64URL.encode(Array(json.jsonText.utf8))).c2ln"
        if let claims = try? TokenClaims(parsing: text) { feed(.tokenRead(attempt: attempt, claims)) }
    }

    // MARK: The broker and the hub

    private mutating func arrive(_ message: Up, on attempt: Int) {
        switch message {
        case .subscribe:
            wires[attempt]?.isSubscribed = true
            wires[attempt]?.down.append(.subscribed(granted: true))
        case .disconnect:
            wires[attempt]?.isSubscribed = false
            // Messages that the broker still had for it are never read.
            wires[attempt]?.down = [.closed]
        case .publish(let payload):
            guard case .request(let request)? = try? Envelope(parsing: payload) else { return }
            answer(request)
        }
    }

    private mutating func answer(_ request: LinkRequest) {
        switch request.method {
        case SessionMethod.begin.name, SessionMethod.heartbeat.name:
            send(.reply(LinkReply(id: request.id, result: ["t": .integer(hubTime)])))
        case TokenMethod.renew.name:
            renewals.append(now)
            guard renews else {
                return send(.reply(LinkReply(id: request.id, error: IoTError(.tooManyRequests))))
            }
            tokenCount += 1
            let json: JSONValue = [
                "jti": .string("t\(tokenCount)"), "iat": .integer(hubTime / 1_000),
                "exp": .integer(hubTime / 1_000 + tokenLife),
            ]
            let text = "e30.\(Base64URL.encode(Array(json.jsonText.utf8))).c2ln"
            send(.reply(LinkReply(id: request.id, result: ["token": .string(text)])))
        default:
            executed.append(request.id)
            send(.reply(LinkReply(id: request.id)))
        }
    }

    private mutating func send(_ envelope: Envelope) {
        for attempt in wires.keys where wires[attempt]?.isSubscribed == true {
            wires[attempt]?.down.append(.received(envelope))
        }
    }
}
