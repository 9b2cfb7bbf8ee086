import Crypto
import IoTCore
import IoTLink
import NIOCore
import ThingModel

@testable import LinkHub

/// A hub that can be killed between any two steps: its store is the disk, the rest is the process.
struct VirtualHub {
    /// How a hub that is killed leaves what it was about to decide.
    enum End: CaseIterable {
        case undecided
        /// Committed, and nobody was told.
        case untold
        /// Committed, and a part of it was told.
        case partlyTold
    }

    let store: HubStore
    private let authority: TokenAuthority
    private let limits: HubLimits
    /// For the test of the test: the hub answers before its commit, which a kill then prevents.
    let answersEarly: Bool
    /// The process; `nil` while there is none.
    private(set) var core: HubCore?
    private var inbox: [UplinkMessage] = []

    init(limits: HubLimits, answersEarly: Bool) throws {
        store = try HubStore(path: nil)
        authority = TokenAuthority(key: HubKey(signing: Curve25519.Signing.PrivateKey()))
        self.limits = limits
        self.answersEarly = answersEarly
    }

    mutating func start(at time: HubTime) throws {
        core = HubCore(
            state: try store.load(), authority: authority,
            identity: HubIdentity(address: .unixSocket(path: "/run/hub/broker.sock")), limits: limits)
        _ = try timeout(at: time)
    }

    /// A call of the daemon's own.
    mutating func perform<Result>(_ body: (inout HubCore) throws(IoTError) -> Result) throws -> Result {
        guard var core else { throw IoTError(.internalFailure) }
        let (result, turn) = try core.handle(body)
        try store.transaction { writer in Swift.Result { try writer.apply(turn.changes) } }.get()
        self.core = core
        return result
    }

    mutating func receive(_ message: UplinkMessage) {
        if core != nil { inbox.append(message) }
    }

    mutating func noteOutage(at time: HubTime) { core?.handleOutage(at: time) }

    /// Decides all that waits in one transaction, as `HubService` does.
    mutating func drain(at time: HubTime) throws -> [HubOutput] {
        defer { inbox = [] }
        return try run(time) { [inbox] core, writer in
            inbox.map { core.handle($0, at: time, recall: writer.answer) }
        }
    }

    mutating func timeout(at time: HubTime) throws -> [HubOutput] {
        try run(time) { core, _ in [core.handleTimeout(at: time)] }
    }

    /// - Returns: What it still told.
    mutating func kill(_ end: End, at time: HubTime) throws -> [HubOutput] {
        defer {
            core = nil
            inbox = []
        }
        guard core != nil, !inbox.isEmpty else { return [] }
        if answersEarly { return try told(at: time) }
        guard end != .undecided else { return [] }
        let outputs = try drain(at: time)
        return end == .untold ? [] : Array(outputs.prefix(outputs.count / 2))
    }

    /// What it would have told, without a commit.
    private mutating func told(at time: HubTime) throws -> [HubOutput] {
        guard var core else { return [] }
        let inbox = inbox
        return try store.transaction { writer in
            inbox.flatMap { core.handle($0, at: time, recall: writer.answer).outputs }
        }
    }

    private mutating func run(
        _ time: HubTime, _ body: (inout HubCore, StoreWriter) -> [HubTurn]
    ) throws -> [HubOutput] {
        guard var core = self.core else { return [] }
        self.core = nil
        defer { self.core = core }
        return try store.transaction { writer in
            Swift.Result {
                var outputs: [HubOutput] = []
                for turn in body(&core, writer) {
                    var turn = turn
                    if let query = turn.eventQuery {
                        turn = core.conclude(query, writer.events(query.selection), at: time)
                    }
                    try writer.apply(turn.changes)
                    core.accept(turn)
                    outputs += turn.outputs
                }
                return MessageBatches.join(
                    outputs + core.takeNotices(at: time), reads: core.sessions.readsBatches)
            }
        }.get()
    }
}
