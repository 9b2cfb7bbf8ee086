import IoTCore
import MediaPlayer
import NIOCore
import Testing

/// Tests the states that only a player of recordings reaches.
@Suite struct PlaybackStateTests {
    private func playing() throws -> PlayerStateMachine {
        var machine = PlayerStateMachine(PlayerCapabilities(of: .playback))
        _ = try machine.handle(.play)
        _ = machine.handle(.headerKnown)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .playing)
        return machine
    }

    @Test("A pause ends with the first frame shown after it; a second pause or resume has no effect")
    func pause() throws {
        var machine = try playing()
        #expect(try machine.handle(.pause).count == 1)
        #expect(try machine.handle(.pause).isEmpty)
        #expect(machine.handle(.frameShown).isEmpty)
        #expect(machine.status == .paused)
        _ = try machine.handle(.resume)
        #expect(machine.status == .loading)
        #expect(try machine.handle(.resume).isEmpty)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .playing)
    }

    @Test("A seek ends with the first frame shown, in the state before it or the state requested meanwhile")
    func seek() throws {
        var machine = try playing()
        _ = try machine.handle(.seek)
        #expect(machine.status == .seeking)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .playing)
        _ = try machine.handle(.pause)
        _ = try machine.handle(.seek)
        _ = try machine.handle(.seek)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .paused)
        _ = try machine.handle(.seek)
        _ = try machine.handle(.resume)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .playing)
        _ = try machine.handle(.seek)
        _ = try machine.handle(.pause)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .paused)
    }

    @Test("Fast-forward means playing while pictures are left out")
    func fast() throws {
        var machine = try playing()
        _ = try machine.handle(.setSpeed)
        _ = machine.handle(.paceChanged(isFast: true))
        #expect(machine.status == .fastForward)
        _ = try machine.handle(.pause)
        _ = try machine.handle(.resume)
        _ = machine.handle(.frameShown)
        #expect(machine.status == .fastForward)
        _ = machine.handle(.starved(tolerance: .zero, delay: .zero))
        #expect(machine.status == .loading)
        _ = machine.handle(.paceChanged(isFast: false))
        _ = machine.handle(.frameShown)
        #expect(machine.status == .playing)
    }

    @Test("The end of the source stops the player without an error")
    func finished() throws {
        var machine = try playing()
        let actions = machine.handle(.finished)
        #expect(actions.contains { if case .disconnect = $0 { true } else { false } })
        #expect(machine.status == .stopping)
        _ = machine.handle(.disconnected(nil))
        #expect(machine.status == .stopped && machine.lastError == nil)
        #expect(machine.handle(.finished).isEmpty)
    }

    @Test("Before play a pause is refused, and a seek sets where play starts")
    func before() throws {
        var machine = PlayerStateMachine(PlayerCapabilities(of: .playback))
        #expect(try machine.handle(.seek).isEmpty && machine.status == .stopped)
        for command in [PlayerStateMachine.Command.pause, .resume] {
            #expect {
                _ = try machine.handle(command)
            } throws: { error in
                (error as? IoTError)?.code == .stateMismatch
            }
        }
    }
}
