import IoTCore
import NIOCore

extension LinkResponder {
    /// §6: a record is not sent to the group again within a second, except in answer to a probe.
    static let recordInterval = TimeAmount.seconds(1)
    private static let defenceInterval = TimeAmount.milliseconds(250)
    /// §6.7: the time to live in answers to resolvers of plain DNS.
    private static let legacyTTL: UInt32 = 10

    /// Answers a query (§6).
    ///
    /// - Parameter source: An address on this link. A port other than 5353 means a resolver of plain DNS (§6.7).
    mutating func receive(query: DNSMessage, from source: SocketAddress, at now: NIODeadline) {
        if !query.authorities.isEmpty { receive(probe: query, at: now) }
        let known = Dictionary(query.answers.map { ($0.identity, $0.ttl) }, uniquingKeysWith: max)
        guard !query.questions.isEmpty else {
            // Further known answers for an earlier query (§7.2).
            pending.suppress(known, from: source)
            return
        }
        if source.port != Transmission.port { return answer(legacy: query, from: source, at: now) }
        var answers: Set<DNSRecord> = []
        var unicast: Set<DNSRecord> = []
        for question in query.questions {
            for record in records(for: question) {
                // §7.1: records that the querier knows for at least half their lifetime.
                guard known[record.identity].map({ UInt64($0) * 2 < UInt64(record.ttl) }) ?? true else { continue }
                if question.wantsUnicast, wasSentLately(record, at: now) {
                    unicast.insert(record)
                } else {
                    answers.insert(record)
                }
            }
        }
        unicast.subtract(answers)
        if !unicast.isEmpty {
            if unicastBudget.take(at: now) {
                reply(Array(unicast), to: source, known: known)
            } else {
                answers.formUnion(unicast)
            }
        }
        if query.authorities.isEmpty {
            schedule(answers, of: query, from: source, at: now)
        } else {
            // A probe waits at most 250 ms (§8.1).
            let defended = answers.filter { record in
                sentAt[record.identity].map { $0 + Self.defenceInterval <= now } ?? true
            }
            if !defended.isEmpty { multicast(Array(defended), at: now) }
        }
    }

    private func records(for question: DNSQuestion) -> [DNSRecord] {
        guard question.dnsClass == DNSClass.internet || question.dnsClass == DNSClass.any else { return [] }
        return (index[question.name] ?? []).filter {
            question.type == $0.type || question.type == DNSRecordType.any
        }
    }

    /// §5.4: whether the other hosts on the link received it recently, so that unicast is sufficient.
    private func wasSentLately(_ record: DNSRecord, at now: NIODeadline) -> Bool {
        sentAt[record.identity].map { $0 + .seconds(Int64(record.ttl) / 4) > now } ?? false
    }

    private mutating func schedule(
        _ answers: Set<DNSRecord>, of query: DNSMessage, from source: SocketAddress, at now: NIODeadline
    ) {
        guard !answers.isEmpty else { return }
        // §6: several hosts may answer for shared records, so each waits. §7.2: the querier sends more.
        let delay: TimeAmount =
            if query.isTruncated {
                jitter.milliseconds(400...500)
            } else if answers.allSatisfy(\.isUnique) {
                .zero
            } else {
                jitter.milliseconds(20...120)
            }
        for record in answers {
            let earliest = sentAt[record.identity].map { $0 + Self.recordInterval } ?? now
            pending.add(record, due: max(now + delay, earliest), from: source)
        }
    }

    private mutating func reply(
        _ answers: [DNSRecord], to source: SocketAddress, known: [DNSRecord.Identity: UInt32]
    ) {
        let additions = additions(to: answers) { known[$0.identity] != nil }
        for message in Self.responses(answers, additions: additions) { transmit(message, to: .unicast(source)) }
    }

    /// §6.7: contains the question and its id, no cache-flush bit, and a short time to live. One packet within the size
    /// limit of plain DNS.
    private mutating func answer(legacy query: DNSMessage, from source: SocketAddress, at now: NIODeadline) {
        guard let question = query.questions.first, query.authorities.isEmpty else { return }
        let answers = records(for: question)
        guard !answers.isEmpty, unicastBudget.take(at: now) else { return }
        var response = DNSMessage(id: query.id, isResponse: true, questions: [question])
        response.questions[0].wantsUnicast = false
        response.answers = answers.map(Self.legacy)
        response.additions = additions(to: answers) { _ in false }.map(Self.legacy)
        while response.encoded().count > 512, !response.answers.isEmpty {
            if response.additions.isEmpty {
                response.isTruncated = true
                response.answers.removeLast()
            } else {
                response.additions.removeLast()
            }
        }
        transmit(response, to: .unicast(source))
    }

    private static func legacy(_ record: DNSRecord) -> DNSRecord {
        var record = record
        record.isUnique = false
        record.ttl = min(record.ttl, legacyTTL)
        return record
    }

    /// RFC 6763 §12: the records that the querier would request next.
    func additions(to answers: [DNSRecord], isLeftOut: (DNSRecord) -> Bool) -> [DNSRecord] {
        var taken = Set(answers.map(\.identity))
        var additions: [DNSRecord] = []
        var rest = answers[...]
        while let record = rest.popFirst() {
            let name: DNSName? =
                switch record.value {
                case .pointer(let name): name
                case .service(_, _, _, let target): target
                default: nil
                }
            guard let name, record.name != ServiceType.listing else { continue }
            for next in index[name] ?? [] where taken.insert(next.identity).inserted && !isLeftOut(next) {
                additions.append(next)
                rest.append(next)
            }
        }
        return additions
    }
}
