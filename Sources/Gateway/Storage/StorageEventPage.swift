import GatewayAPI

/// A page of events. The next one begins with the `startTime` of this one's last event as its `endTime`, which does not
/// belong to it.
enum StorageEventPage {
    /// - Parameter events: all of the time, in any order.
    /// - Returns: the newest events, and whether these are all. The events of one second are on one page, if a page can
    ///   hold them: so none is lost, and none comes twice.
    static func cut(_ events: [StorageEvents.Event], size: Int) -> (list: [StorageEvents.Event], isEnd: Bool) {
        let sorted = events.sorted {
            ($0.startTime, Int64($0.alarmId) ?? 0) > ($1.startTime, Int64($1.alarmId) ?? 0)
        }
        guard sorted.count > size else { return (sorted, true) }
        let next = sorted[size].startTime
        var list = Array(sorted.prefix(size))
        let whole = list.prefix { $0.startTime != next }
        if !whole.isEmpty { list = Array(whole) }
        return (list, false)
    }
}
