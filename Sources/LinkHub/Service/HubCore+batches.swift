import IoTCore
import IoTLink

/// The turns of a batch are decided one after another, and then stored together. What they changed in memory is then
/// kept or taken back.
extension HubCore {
    /// Adds a turn to the batch: its notices are sent at the end of the batch.
    mutating func accept(_ turn: HubTurn) {
        for update in turn.updates { notices.add(update) }
    }

    /// Call this before the store is read: it then contains all that was decided so far.
    mutating func prepareToRead() {
        deletedEvents = []
        kept.deletedEvents = []
    }

    /// State that is not in the store, as it was before the current batch.
    struct Kept: Sendable {
        var exchanged: [String: Exchanged] = [:]
        var used: [ShownCredential: Int64] = [:]
        var asked: [AnswerIndex.Key: HubTurn.Requester] = [:]
        var deletedEvents: Set<Int64> = []
    }

    /// Call this when the batch is stored.
    mutating func keep() {
        sessions.keep()
        forwards.keep()
        kept = Kept(exchanged: exchanged, used: used, asked: asked, deletedEvents: deletedEvents)
    }

    /// Call this when the batch was not stored. State that outlives the hub must also be restored from the store.
    mutating func takeBack() {
        sessions.takeBack()
        forwards.takeBack()
        // Additions of the batch are checked in `restore`, because the store may contain them after all.
        exchanged.merge(kept.exchanged) { now, _ in now }
        used.merge(kept.used) { now, _ in now }
        _ = notices.take()
        trimming = []
        // Other parts of the batch may use what was read before.
        asked = kept.asked
        deletedEvents = kept.deletedEvents
    }

    /// Returns to the state in the store.
    mutating func restore(_ state: HubState) {
        self.state = state
        // These may mention tokens that were never stored. Targets do not carry out a forwarded request twice.
        recent = RecentAnswers(limits)
        limitAnswers()
        exchanged = exchanged.filter { state.enrolments[$0.key] == nil }
        restoreUses()
        failedProvisionings = failedProvisionings.filter { state.enrolments[$0.key] == nil }
        renewals = [:]
        updateAccountExpiry()
        // The end of a presence may be among the changes that were not stored.
        forgetTimes()
    }

    /// Refuses a query's result that arrives while nothing can be decided.
    mutating func refuse(_ result: HubQueryResult, _ error: IoTError) -> [HubOutput] {
        switch result {
        case .answer(_, _, let request, let address): fail(requester(of: request, from: address), error)
        case .events(_, .list(let permit)), .events(_, .delete(let permit)): fail(permit.requester, error)
        case .events(_, .expire), .events(_, .trim): []
        }
    }

    /// Handles a turn that cannot be stored: the requester gets an error and no longer waits.
    mutating func fail(_ requester: HubTurn.Requester?, _ error: IoTError) -> [HubOutput] {
        guard let requester else { return [] }
        forwards.drop(requester.key)
        asked[requester.key] = nil
        let reply = LinkReply(id: requester.id, error: error)
        return (try? Envelope.reply(reply).serialized()).map { [.message(requester.address, $0)] } ?? []
    }
}
