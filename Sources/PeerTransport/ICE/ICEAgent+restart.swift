import NIOCore

// ICE restarts (RFC 8445 §9): new credentials and new checks, while data continue on the old pair.
extension ICEAgent {
    /// Begins our restart, or one that the peer's new credentials request. Call `start` next.
    mutating func restart() {
        guard state != .failed else { return }
        // At a second restart before the first is done, the selected pair still uses the oldest credentials.
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
