package import NIOCore

/// A source that pauses, seeks and changes its speed itself, as a playback channel's device does: its frames arrive when
/// they are to be shown, and only the player's state follows.
extension PlayerCore {
    /// The source jumps to another position.
    package func sourceSeeks(at now: NIODeadline) {
        counts.count { $0.presentationPaused() }
        follow(.seek, at: now)
    }

    /// The source stands at a picture.
    package func sourcePaused(at now: NIODeadline) {
        // The time until the next picture is not a freeze.
        counts.count { $0.presentationPaused() }
        follow(.pause, at: now)
    }

    package func sourceResumed(at now: NIODeadline) { follow(.resume, at: now) }

    /// - Parameter isFast: only key frames come.
    package func sourcePace(isFast: Bool, at now: NIODeadline) {
        handle(.paceChanged(isFast: isFast), at: now)
    }

    /// A command that has no meaning in the current state is ignored: the source has carried it out already.
    private func follow(_ command: PlayerStateMachine.Command, at now: NIODeadline) {
        guard let actions = try? machine.handle(command) else { return }
        perform(actions, at: now)
    }
}
