import NIOCore

/// Future events by time; events at the same time are in the order in which they were added.
struct EventQueue<Event> {
    private struct Entry {
        let time: NIODeadline
        let order: Int
        let event: Event

        func comes(before other: Entry) -> Bool { (time, order) < (other.time, other.order) }
    }

    private var heap: [Entry] = []
    private var order = 0

    var nextTime: NIODeadline? { heap.first?.time }

    mutating func add(_ event: Event, at time: NIODeadline) {
        order += 1
        heap.append(Entry(time: time, order: order, event: event))
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child].comes(before: heap[parent]) {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func take() -> Event? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.event }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].comes(before: heap[least]) {
                least = child
            }
            guard least != parent else { return first.event }
            heap.swapAt(least, parent)
            parent = least
        }
    }
}
