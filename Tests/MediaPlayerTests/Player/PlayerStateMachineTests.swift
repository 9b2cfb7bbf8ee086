import IoTCore
import MediaPlayer
import NIOCore
import Testing

@Suite struct PlayerStateMachineTests {
    /// A step and its name in the tables.
    private enum Step: String, CaseIterable {
        case prepare, play, stop, pause, resume, seek, setSpeed
        case header, shown, starved, spoilt, fatal, gone

        func apply(to machine: inout PlayerStateMachine) throws(IoTError) -> [PlayerStateMachine.Action] {
            switch self {
            case .prepare: try machine.handle(.prepare)
            case .play: try machine.handle(.play)
            case .stop: try machine.handle(.stop)
            case .pause: try machine.handle(.pause)
            case .resume: try machine.handle(.resume)
            case .seek: try machine.handle(.seek)
            case .setSpeed: try machine.handle(.setSpeed)
            case .header: machine.handle(.headerKnown)
            case .shown: machine.handle(.frameShown)
            case .starved: machine.handle(.starved(tolerance: .milliseconds(80), delay: .milliseconds(90)))
            case .spoilt: machine.handle(.failed(IoTError(.mediaFailed)))
            case .fatal: machine.handle(.failed(IoTError(.peerFailed)))
            case .gone: machine.handle(.disconnected(nil))
            }
        }
    }

    /// The steps from the start to each state of a monitor player.
    private static let ways: [(PlayerStatus, [Step])] = [
        (.stopped, []), (.preparing, [.prepare]), (.ready, [.prepare, .header]),
        (.loading, [.prepare, .header, .play]), (.playing, [.prepare, .header, .play, .shown]),
        (.stopping, [.prepare, .stop]),
    ]

    /// The result of every step in every state, in one line.
    private static let table: [PlayerStatus: [Step: String]] = [
        .stopped: [
            .prepare: "preparing connect", .play: "preparing connect", .stop: "", .header: "", .shown: "",
            .starved: "", .spoilt: "", .fatal: "", .gone: "",
        ],
        .preparing: [
            .prepare: "", .play: "", .stop: "stopping disconnect", .header: "ready", .shown: "", .starved: "",
            .spoilt: "error", .fatal: "fatal stopping disconnect", .gone: "fatal stopping stopped",
        ],
        .ready: [
            .prepare: "", .play: "startMedia loading", .stop: "stopping disconnect", .header: "", .shown: "",
            .starved: "", .spoilt: "error", .fatal: "fatal stopping disconnect", .gone: "fatal stopping stopped",
        ],
        .loading: [
            .prepare: "stateMismatch", .play: "", .stop: "stopping disconnect", .header: "", .shown: "playing",
            .starved: "", .spoilt: "error", .fatal: "fatal stopping disconnect", .gone: "fatal stopping stopped",
        ],
        .playing: [
            .prepare: "stateMismatch", .play: "", .stop: "stopping disconnect", .header: "", .shown: "",
            .starved: "stalled loading", .spoilt: "error", .fatal: "fatal stopping disconnect",
            .gone: "fatal stopping stopped",
        ],
        .stopping: [
            .prepare: "stateMismatch", .play: "stateMismatch", .stop: "", .header: "", .shown: "", .starved: "",
            .spoilt: "", .fatal: "", .gone: "stopped",
        ],
    ]

    @Test("Every step in every state has the result in the table", arguments: Step.allCases.map(\.rawValue))
    func everyStep(name: String) throws {
        let step = try #require(Step(rawValue: name))
        for (status, way) in Self.ways {
            var machine = PlayerStateMachine()
            for step in way { _ = try step.apply(to: &machine) }
            #expect(machine.status == status)
            var outcome: String
            do {
                let actions = try step.apply(to: &machine)
                outcome = actions.map(Self.word).joined(separator: " ")
                let last = actions.compactMap(Self.newStatus).last
                #expect(machine.status == last ?? status, "\(step) while \(status.name)")
            } catch {
                outcome = error.code.name
                #expect(machine.status == status, "a refused command changes nothing")
            }
            #expect(
                outcome == Self.table[status]?[step] ?? "operationNotAllowed", "\(step) while \(status.name)")
        }
    }

    @Test("If play is called before the header is known, play starts as soon as it is known")
    func playAtOnce() throws {
        var machine = PlayerStateMachine()
        _ = try machine.handle(.play)
        #expect(machine.status == .preparing)
        let actions = machine.handle(.headerKnown)
        #expect(actions.map(Self.word) == ["ready", "startMedia", "loading"])
        #expect(machine.status == .loading)
    }

    @Test("A new start discards an earlier play and an earlier error")
    func startsAnew() throws {
        var machine = PlayerStateMachine()
        _ = try machine.handle(.play)
        _ = machine.handle(.failed(IoTError(.deviceOffline)))
        #expect(machine.lastError?.code == .deviceOffline)
        _ = machine.handle(.disconnected(nil))
        #expect(machine.lastError?.code == .deviceOffline)
        _ = try machine.handle(.prepare)
        #expect(machine.lastError == nil)
        let actions = machine.handle(.headerKnown)
        #expect(actions.map(Self.word) == ["ready"])
    }

    @Test("A player that starves stalls and recovers, and reports tolerance and delay")
    func starves() throws {
        var machine = PlayerStateMachine()
        for step in [Step.play, .header, .shown] { _ = try step.apply(to: &machine) }
        let actions = machine.handle(.starved(tolerance: .milliseconds(80), delay: .milliseconds(90)))
        guard case .report(.jitterStalled(let tolerance, let delay))? = actions.first else {
            Issue.record("no report")
            return
        }
        #expect(tolerance == .milliseconds(80))
        #expect(delay == .milliseconds(90))
        #expect(machine.status == .loading && machine.reason?.code == .mediaInterrupted)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .playing && machine.reason == nil)
        _ = machine.handle(.starved(tolerance: .milliseconds(80), delay: .milliseconds(90)))
        _ = machine.handle(.failed(IoTError(.peerFailed)))
        #expect(machine.reason?.code == .peerFailed)
    }

    @Test("Loading for the first time, and after a pause, is not an interruption")
    func loading() throws {
        var machine = PlayerStateMachine(PlayerCapabilities(of: .playback))
        for step in [Step.play, .header] { _ = try step.apply(to: &machine) }
        #expect(machine.status == .loading && machine.reason == nil)
        for step in [Step.shown, .starved, .pause, .resume] { _ = try step.apply(to: &machine) }
        #expect(machine.status == .loading && machine.reason == nil)
    }

    @Test("Each state has the load bits of its meaning")
    func loadBits() {
        let bits = PlayerStatus.allCases.map { "\($0.name) \($0.load.rawValue) \($0.load.name)" }
        #expect(
            bits == [
                "stopping 0 unknown", "stopped 0 unknown", "preparing 0 unknown", "ready 1 playable",
                "loading 4 stalled", "playing 3 playthroughOK", "paused 3 playthroughOK",
                "fastForward 3 playthroughOK", "seeking 4 stalled",
            ])
    }

    @Test("Errors of one use let the player continue; errors of the channel do not")
    func errors() {
        for code in [ErrorCode.mediaFailed, .videoSizeChanged, .slowReader] {
            #expect(!IoTError(code).stopsPlayer)
        }
        for code in [ErrorCode.peerFailed, .deviceOffline, .hungUp, .cameraOff, .channelDisconnected] {
            #expect(IoTError(code).stopsPlayer)
        }
    }

    private static func word(_ action: PlayerStateMachine.Action) -> String {
        switch action {
        case .connect: "connect"
        case .startMedia: "startMedia"
        case .disconnect: "disconnect"
        case .report(.statusChanged(_, let new)): new.name
        case .report(.error(_, let isFatal)): isFatal ? "fatal" : "error"
        case .report(.jitterStalled): "stalled"
        }
    }

    private static func newStatus(_ action: PlayerStateMachine.Action) -> PlayerStatus? {
        guard case .report(.statusChanged(_, let new)) = action else { return nil }
        return new
    }
}
