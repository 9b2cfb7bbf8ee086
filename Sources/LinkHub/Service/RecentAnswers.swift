import IoTLink

/// Answers that changed nothing, kept so that a repeat gets the same one. They need not outlive the hub; the oldest
/// go first when there are too many.
struct RecentAnswers: Sendable {
    static let capacity = 8_192
    static let byteCapacity = 8 << 20

    private struct Entry: Sendable {
        /// Several for a request with several answers.
        var replies: [[UInt8]]
        var content: RequestContent
        var byteCount: Int
        var time: Int64
    }

    private var answers: [AnswerIndex.Key: Entry] = [:]
    private var order: [AnswerIndex.Key] = []
    private var first = 0
    private(set) var byteCount = 0

    func answer(_ key: AnswerIndex.Key, at time: Int64) -> (replies: [[UInt8]], content: RequestContent)? {
        guard let entry = answers[key], entry.time >= time - AnswerIndex.memory else { return nil }
        return (entry.replies, entry.content)
    }

    mutating func add(_ key: AnswerIndex.Key, _ content: RequestContent, _ replies: [[UInt8]], at time: Int64) {
        let size = replies.reduce(0) { $0 + $1.count }
        let entry = Entry(replies: replies, content: content, byteCount: size, time: time)
        if let old = answers.updateValue(entry, forKey: key) {
            byteCount -= old.byteCount
        } else {
            order.append(key)
        }
        byteCount += size
        while first < order.count, answers.count > Self.capacity || byteCount > Self.byteCapacity {
            if let old = answers.removeValue(forKey: order[first]) { byteCount -= old.byteCount }
            first += 1
        }
        if first > 1_024, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
    }
}
