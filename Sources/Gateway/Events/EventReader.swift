import GatewayAPI
import IoTCore

/// One reader of the feed: what it requested, and what its account and token may see.
struct EventReader: Sendable {
    let feed: EventFeed
    let caller: Caller
    let kinds: Set<GatewayEvent.Kind>
    /// A device's id; `nil` for all devices.
    let device: String?
    let mayView: @Sendable (String) async -> Bool

    /// The events from now on, or those after `lastID`. Driven by its reader: it has no queue and no task.
    func events(after lastID: String?) -> AsyncStream<NumberedEvent> {
        let start = lastID.map { feed.resume(after: $0) } ?? (place: feed.newest, reset: nil)
        let cursor = Cursor(place: start.place, reset: start.reset)
        return AsyncStream(unfolding: { await next(cursor) })
    }

    private func next(_ cursor: Cursor) async -> NumberedEvent? {
        if cursor.isOver { return nil }
        if let reason = cursor.takeReset() {
            return NumberedEvent(id: feed.id(of: cursor.place), event: .reset(EventReset(reason: reason)))
        }
        while true {
            switch await feed.step(after: cursor.place) {
            case .ended: return nil
            case .overtaken:
                cursor.end()
                let error = IoTError(
                    .slowReader, "the reader was too slow and events were lost",
                    remedy: "read faster, and connect again")
                return NumberedEvent(id: nil, event: .failed(APIError(error)))
            case .entry(let entry):
                cursor.advance(to: entry.place)
                if await isFor(entry) { return NumberedEvent(id: feed.id(of: entry.place), event: entry.event) }
            }
        }
    }

    private func isFor(_ entry: EventFeed.Entry) async -> Bool {
        guard let kind = entry.event.kind, kinds.contains(kind) else { return false }
        if let about = entry.event.device {
            guard device == nil || device == about, caller.scope.includes(device: about) else { return false }
        } else if device != nil, kind != .link {
            return false
        }
        switch entry.audience {
        case .everyone: return true
        case .account(let account): return account == caller.account
        // Checked for each event: an account that has lost a device gets no more of its events.
        case .viewers(let device): return await mayView(device)
        }
    }
}
