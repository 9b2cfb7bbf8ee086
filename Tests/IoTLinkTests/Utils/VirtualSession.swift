import IoTCore
import NIOCore
import TestSupport

@testable import IoTLink

/// A machine in virtual time, with its outputs.
struct VirtualSession {
    static let start: Int64 = 1_700_000_000_000

    var machine: LinkSessionMachine
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var wall = VirtualSession.start
    /// The outputs of the last step.
    var outputs: [LinkSessionMachine.Output] = []
    private(set) var attempt = 0
    private(set) var completed: [String: [Result<JSONValue, IoTError>]] = [:]

    init(limits: LinkLimits = LinkLimits(), seed: UInt64 = 1) {
        machine = LinkSessionMachine(
            principal: .user(AccessID(rawValue: "owner")!), limits: limits, generator: SeededGenerator(seed: seed),
            wall: wall)
    }

    mutating func feed(_ input: LinkSessionMachine.Input) {
        outputs = []
        take(machine.handle(input, at: now, wall: wall))
    }

    mutating func feed(_ event: LinkSessionMachine.Transport) {
        feed(.transport(attempt: attempt, event))
    }

    mutating func receive(_ reply: LinkReply) { feed(.received(.reply(reply))) }
    mutating func receive(_ request: LinkRequest) { feed(.received(.request(request))) }

    /// Advances the time, stopping at each deadline of the machine. Collects all outputs.
    mutating func advance(_ amount: TimeAmount) {
        let end = now + amount
        var all: [LinkSessionMachine.Output] = []
        var steps = 0
        while let deadline = machine.nextDeadline, deadline <= end, steps < 100_000 {
            steps += 1
            move(to: max(deadline, now))
            feed(.timeout)
            all += outputs
        }
        precondition(steps < 100_000, "a timeout that does not move its deadline")
        move(to: end)
        outputs = all
    }

    private mutating func move(to time: NIODeadline) {
        wall += (time - now).nanoseconds / 1_000_000
        now = time
    }

    private mutating func take(_ new: [LinkSessionMachine.Output]) {
        for output in new {
            if case .connect(let attempt, _) = output { self.attempt = attempt }
            if case .complete(let id, let outcome) = output { completed[id, default: []].append(outcome) }
        }
        outputs += new
    }

    // MARK: Shortcuts

    mutating func request(
        _ id: String, timeout: TimeAmount = .seconds(5), many: Bool = false, as account: Principal? = nil
    ) {
        feed(
            .request(
                PendingRequests.Entry(
                    id: id, method: "test.ask", params: ["n": 1], actingAs: account, deadline: now + timeout,
                    takesMany: many)))
    }

    mutating func connect() {
        feed(.connected)
        feed(.subscribed(granted: true))
    }

    mutating func answerBegin(hubTime: Int64? = nil, tokenKeys: JSONValue? = nil, batches: Bool = false) {
        guard case .beginning(let beginning) = machine.phase else { return }
        var result: JSONValue = ["t": .integer(hubTime ?? wall)]
        result["tokenKeys"] = tokenKeys
        if batches { result["batches"] = true }
        receive(LinkReply(id: beginning.newest, result: result))
    }

    mutating func goOnline(tokenKeys: JSONValue? = nil) {
        if case .idle = machine.phase { feed(.register) }
        connect()
        answerBegin(tokenKeys: tokenKeys)
    }

    static func online(limits: LinkLimits = LinkLimits(), seed: UInt64 = 1) -> VirtualSession {
        var session = VirtualSession(limits: limits, seed: seed)
        session.goOnline()
        return session
    }

    /// A request from the hub; by default its deadline is in 5 s.
    func incoming(_ id: String, from: Principal? = nil, deadline: Int64? = nil) -> LinkRequest {
        LinkRequest(id: id, method: "test.act", from: from, params: [:], t: wall, deadline: deadline ?? wall + 5000)
    }

    // MARK: Outputs

    var published: [Envelope] {
        outputs.compactMap { output in
            guard case .publish(_, let payload, _) = output else { return nil }
            return try? Envelope(parsing: payload)
        }
    }

    var publishedRequests: [LinkRequest] {
        published.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    var publishedReplies: [LinkReply] {
        published.compactMap { if case .reply(let reply) = $0 { reply } else { nil } }
    }

    var statuses: [LinkStatusChange] {
        outputs.compactMap { if case .status(let change) = $0 { change } else { nil } }
    }

    var connects: Int { outputs.count { if case .connect = $0 { true } else { false } } }
    var disconnects: Int { outputs.count { if case .disconnect = $0 { true } else { false } } }

    var executed: [RememberedAnswers.Key] {
        outputs.compactMap { if case .execute(let key, _, _) = $0 { key } else { nil } }
    }

    var isFinished: Bool { outputs.contains { if case .finished = $0 { true } else { false } } }

    func failure(of id: String) -> ErrorCode? {
        guard case .failure(let error) = completed[id]?.first else { return nil }
        return error.code
    }

    func result(of id: String) -> JSONValue? {
        try? completed[id]?.first?.get()
    }
}
