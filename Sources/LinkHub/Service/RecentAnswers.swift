import IoTLink

/// Answers that changed nothing, kept so that a repeated request gets the same one. They need not outlive the hub. A
/// principal with too many loses its own oldest.
struct RecentAnswers: Sendable {
    /// The approximate size of an answer besides its bytes.
    static let overhead = 512

    private struct Entry: Sendable {
        /// More than one for a request with several answers.
        var replies: [[UInt8]]
        var content: RequestContent
        var number: Int
        var time: Int64
    }

    private var answers: [AnswerIndex.Key: Entry] = [:]
    private var shelves: FairShelves<(key: AnswerIndex.Key, number: Int)>
    private var added = 0

    init(_ limits: HubLimits) {
        shelves = FairShelves(
            capacityOfOne: limits.recentAnswerBytesOfPrincipal, capacity: limits.recentAnswerBytes)
    }

    var byteCount: Int { shelves.bytes }

    func answer(_ key: AnswerIndex.Key, at time: Int64) -> (replies: [[UInt8]], content: RequestContent)? {
        guard let entry = answers[key], entry.time >= time - AnswerIndex.memory else { return nil }
        return (entry.replies, entry.content)
    }

    /// - Parameter actor: The principal in whose name it was asked; the size counts against its limit.
    mutating func add(
        _ key: AnswerIndex.Key, _ content: RequestContent, _ replies: [[UInt8]], of actor: Principal, at time: Int64
    ) {
        added += 1
        answers[key] = Entry(replies: replies, content: content, number: added, time: time)
        let size = replies.reduce(Self.overhead) { $0 + $1.count }
        let forgotten = shelves.add((key, added), of: actor, size: size, time: time)
        for old in forgotten where answers[old.key]?.number == old.number { answers[old.key] = nil }
    }
}
