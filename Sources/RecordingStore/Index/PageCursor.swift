import IoTCore

/// The order of a list.
package enum ListOrder: Sendable, Hashable {
    case ascending
    case descending
}

/// Where the next page of a list begins. Callers get it as opaque text.
struct PageCursor: Hashable {
    var order: ListOrder
    /// The first segment of the next page.
    var start: Int64
    var id: Int64

    var text: String { (order == .ascending ? "a" : "d") + "_\(start)_\(id)" }

    init(_ record: SegmentRecord, _ order: ListOrder) {
        self.order = order
        start = record.start
        id = record.id.rawValue
    }

    /// - Throws: `valueInvalid`.
    init(text: String, order: ListOrder) throws(IoTError) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == (order == .ascending ? "a" : "d"), let start = Int64(parts[1]),
            let id = Int64(parts[2])
        else {
            throw IoTError(
                .valueInvalid, "the cursor is not one of this list",
                remedy: "use the cursor of the page before, with the same order")
        }
        self.order = order
        self.start = start
        self.id = id
    }
}
