import IoTLink

/// The items that wait for the hub's thread, and the task that takes them.
struct HubInbox {
    private var items: FairQueue<Principal?, HubItem>
    private let limits: HubLimits
    /// True while a task takes items, or is about to.
    private var isDrained = false
    private var isStopped = false
    /// The newest of these tasks.
    private(set) var drain: Task<Void, Never>?
    /// Requests that were refused unread.
    var refused = 0

    /// The waiting messages and calls, without the hub's own work.
    var count: Int {
        items.count
            - items.count(of: nil) { item in
                if case .call = item { false } else { true }
            }
    }

    init(_ limits: HubLimits) {
        self.limits = limits
        items = FairQueue(
            total: .init(count: limits.waitingMessages, bytes: limits.waitingBytes),
            perKey: .init(count: limits.waitingMessagesOfPrincipal, bytes: limits.waitingBytesOfPrincipal))
    }

    /// - Parameter start: Starts the task that takes items out.
    /// - Returns: The refused items: none, the new one, or messages of others.
    mutating func add(_ item: HubItem, start: () -> Task<Void, Never>) -> [HubItem] {
        guard !isStopped else { return [item] }
        var refused: [HubItem] = []
        if item.principal != nil {
            refused = items.add(item, size: item.size, of: item.principal)
        } else {
            // The daemon's own calls are few, and their callers wait for results: no flood of messages displaces one.
            guard items.count(of: nil) < limits.waitingMessages else { return [item] }
            items.append(item, size: item.size, of: nil)
        }
        if !isDrained {
            isDrained = true
            drain = start()
        }
        return refused
    }

    /// - Parameter isIdle: Whether there is no other work: then the task ends if nothing waits.
    mutating func take(isIdle: Bool) -> [HubItem] {
        let batch = items.take(upTo: .init(count: limits.batchSize, bytes: limits.batchBytes))
        if batch.isEmpty, isIdle { isDrained = false }
        return batch
    }

    mutating func stop() {
        isStopped = true
    }
}
