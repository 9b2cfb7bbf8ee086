import Crypto
import IoTCore
import IoTLink
import NIOCore
import ThingModel

@testable import LinkHub

/// A hub that can be killed between any two steps. Its store is the disk; the rest is the process.
struct VirtualHub {
    /// How a killed hub leaves what it was about to decide.
    enum End: CaseIterable {
        case undecided
        /// Committed, but nothing was sent.
        case unsent
        /// Committed, and a part was sent.
        case partlySent
    }

    let store: SQLiteHubStore
    private let authority: TokenAuthority
    private let limits: HubLimits
    /// For the test of the test: the hub answers before its commit, and a kill then prevents the commit.
    let answersEarly: Bool
    /// The process; `nil` while none runs.
    private(set) var core: HubCore?
    private var inbox: [UplinkMessage] = []

    init(limits: HubLimits, answersEarly: Bool) throws {
        store = try SQLiteHubStore(path: nil)
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

    /// Runs one of the daemon's own calls.
    mutating func perform<Result>(_ body: (inout HubCore) throws(IoTError) -> Result) throws -> Result {
        guard var core else { throw IoTError(.internalFailure) }
        let (result, turn) = try core.handle(body)
        try store.commit([turn.changes])
        self.core = core
        return result
    }

    mutating func receive(_ message: UplinkMessage) {
        if core != nil { inbox.append(message) }
    }

    mutating func noteOutage(at time: HubTime) { core?.handleOutage(at: time) }

    /// Decides everything that waits in one transaction, like `HubService`.
    mutating func drain(at time: HubTime) throws -> [HubOutput] {
        defer { inbox = [] }
        return try run(time) { [inbox] core in inbox.map { core.handle($0, at: time) } }
    }

    mutating func timeout(at time: HubTime) throws -> [HubOutput] {
        try run(time) { core in [core.handleTimeout(at: time)] }
    }

    /// - Returns: What it still sent.
    mutating func kill(_ end: End, at time: HubTime) throws -> [HubOutput] {
        defer {
            core = nil
            inbox = []
        }
        guard core != nil, !inbox.isEmpty else { return [] }
        if answersEarly { return try uncommitted(at: time) }
        guard end != .undecided else { return [] }
        let outputs = try drain(at: time)
        return end == .unsent ? [] : Array(outputs.prefix(outputs.count / 2))
    }

    /// What it would have sent, without a commit.
    private mutating func uncommitted(at time: HubTime) throws -> [HubOutput] {
        guard var core else { return [] }
        return inbox.flatMap { core.handle($0, at: time).outputs }
    }

    private mutating func run(_ time: HubTime, _ body: (inout HubCore) -> [HubTurn]) throws -> [HubOutput] {
        guard var core = self.core else { return [] }
        self.core = nil
        defer { self.core = core }
        var sent: [HubOutput] = []
        var turns = body(&core)
        while !turns.isEmpty {
            for turn in turns { core.accept(turn) }
            let outputs = turns.flatMap(\.outputs) + core.takeNotices(at: time)
            try store.commit(turns.map(\.changes))
            core.keep()
            sent += MessageBatches.join(outputs, reads: core.sessions.readsBatches)
            core.prepareToRead()
            turns = turns.compactMap(\.query).map { store.resultNow(of: $0) }.map { core.handle($0, at: time) }
        }
        return sent
    }
}

extension SQLiteHubStore {
    /// Like `result(of:)`, but synchronous.
    func resultNow(of query: HubQuery) -> HubQueryResult {
        switch query {
        case .answer(let number, let request, let address):
            .answer(
                Result { () throws(IoTError) in try answer(number) }, number: number, to: request, from: address)
        case .events(let selection, let purpose):
            .events(Result { () throws(IoTError) in try events(selection) }, purpose)
        }
    }
}
