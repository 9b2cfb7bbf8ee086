import IoTCore
import IoTLink

/// A batch's turns are decided one after another, and then stored together. What they did to the state in memory stands
/// from then on, or is taken back.
extension HubCore {
    /// The turn belongs to the batch: its notices go out at the batch's end.
    mutating func accept(_ turn: HubTurn) {
        for update in turn.updates { notices.add(update) }
    }

    /// The store is about to be asked: it holds all that was decided so far.
    mutating func prepareToRead() {
        deletedEvents = []
        kept.deletedEvents = []
    }

    /// What the store does not hold, as it was before the batch at hand.
    struct Kept: Sendable {
        var exchanged: [String: Exchanged] = [:]
        var used: [ShownCredential: Int64] = [:]
        var asked: [AnswerIndex.Key: HubTurn.Requester] = [:]
        var deletedEvents: Set<Int64> = []
    }

    /// The batch is stored.
    mutating func keep() {
        sessions.keep()
        forwards.keep()
        kept = Kept(exchanged: exchanged, used: used, asked: asked, deletedEvents: deletedEvents)
    }

    /// The batch is not stored. What outlives the hub must be restored from the store, too.
    mutating func takeBack() {
        sessions.takeBack()
        forwards.takeBack()
        // What the batch added is looked at in `restore`: the store may hold it after all.
        exchanged.merge(kept.exchanged) { now, _ in now }
        used.merge(kept.used) { now, _ in now }
        _ = notices.take()
        trimming = []
        // Other parts of the batch may hold what was read before.
        asked = kept.asked
        deletedEvents = kept.deletedEvents
    }

    /// Goes back to what the store holds.
    mutating func restore(_ state: HubState) {
        self.state = state
        // These may tell of tokens that were never stored. What was forwarded its target does not carry out twice.
        recent = RecentAnswers(limits)
        limitAnswers()
        exchanged = exchanged.filter { state.enrolments[$0.key] == nil }
        restoreUses()
        failedProvisionings = failedProvisionings.filter { state.enrolments[$0.key] == nil }
        renewals = [:]
        updateAccountExpiry()
        // Presences that ended may be among what was not stored.
        forgetTimes()
    }

    /// A query's result that comes while nothing can be decided.
    mutating func refuse(_ result: HubQueryResult, _ error: IoTError) -> [HubOutput] {
        switch result {
        case .answer(_, _, let request, let address): fail(requester(of: request, from: address), error)
        case .events(_, .list(let permit)), .events(_, .delete(let permit)): fail(permit.requester, error)
        case .events(_, .expire), .events(_, .trim): []
        }
    }

    /// A turn that cannot be stored: who asked is told, and waits no longer.
    mutating func fail(_ requester: HubTurn.Requester?, _ error: IoTError) -> [HubOutput] {
        guard let requester else { return [] }
        forwards.drop(requester.key)
        asked[requester.key] = nil
        let reply = LinkReply(id: requester.id, error: error)
        return (try? Envelope.reply(reply).serialized()).map { [.message(requester.address, $0)] } ?? []
    }
}
