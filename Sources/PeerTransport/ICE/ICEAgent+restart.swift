import NIOCore

// ICE restarts (RFC 8445 §9): new credentials and new checks, while data go on over the old pair.
extension ICEAgent {
    /// Begins a restart of ours, or one that the peer's new credentials ask for. `start` is to follow.
    mutating func restart() {
        guard state != .failed else { return }
        // A second restart before the first is done: the selected pair still lives by the oldest credentials.
        if !isSelectedOfPrevious { previous = current }
        isSelectedOfPrevious = selected != nil
        current = Self.makeGeneration(using: &generator)
        state = .idle
        pairs = []
        triggered = []
        earlyChecks = []
        remoteCandidates = []
        hasAllRemoteCandidates = false
        unresolved = []
        nominating = nil
        nominationDeadline = nil
        checkingDeadline = nil
        releaseAt = nil
        for id in gatherer.links.keys.sorted() where id != selected?.relay { gatherer.close(link: id) }
        relays = []
        localCandidates = configuration.transportPolicy == .all ? hosts : []
        hasBegunGathering = false
        drainGatherer(at: .uptimeNanoseconds(0))
    }
}
