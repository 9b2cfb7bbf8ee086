import IoTCore
import NIOCore

/// Announces our records on one link and answers questions for them (RFC 6762 §6, §8–10). Owns no socket.
struct LinkResponder {
    enum Phase: Equatable {
        /// Asks whether another host has the name (§8.1).
        case probing(sent: Int)
        case announcing(sent: Int)
        case established
    }

    struct Entry {
        var records: OwnedRecords
        var phase = Phase.probing(sent: 0)
        /// The time of the phase's next step.
        var due: NIODeadline?
        /// Counted since the name was last established.
        var conflictCount = 0
        var lastConflict: NIODeadline?

        /// Whether other hosts may know the records.
        var isAnnounced: Bool {
            switch phase {
            case .probing: false
            case .announcing(let sent): sent > 0
            case .established: true
            }
        }
    }

    private(set) var entries: [OwnedRecords.Owner: Entry] = [:]
    /// The announced records by name.
    var index: [DNSName: [DNSRecord]] = [:]
    /// When each record was last sent to the group.
    var sentAt: [DNSRecord.Identity: NIODeadline] = [:]
    var pending = PendingAnswers()
    /// A forged source address must not flood another host.
    var unicastBudget = RateLimit(RateLimit.Bound(burst: 10, each: 10))
    var transmissions: [Transmission] = []
    var jitter: Jitter

    /// §8.1: three probes, 250 ms apart, the first after a random time.
    private static let probeCount = 3
    private static let probeInterval = TimeAmount.milliseconds(250)
    /// §8.3: at least two announcements a second apart; the third is for a lossy link.
    private static let announcementIntervals: [TimeAmount] = [.seconds(1), .seconds(2)]
    /// §8.2: the loser of simultaneous probes waits.
    private static let tieBreakWait = TimeAmount.seconds(1)
    /// §8.1: after fifteen conflicts each further attempt waits five seconds. The RFC counts conflicts within ten
    /// seconds; here only an established name resets the count.
    private static let conflictLimit = 15
    private static let conflictWait = TimeAmount.seconds(5)

    init(jitter: Jitter) { self.jitter = jitter }

    /// Adds or changes our records: probes for a new name, announces new values for an established one.
    mutating func set(_ owner: OwnedRecords.Owner, _ records: OwnedRecords, at now: NIODeadline) {
        guard var entry = entries[owner] else {
            entries[owner] = Entry(records: records, due: now + jitter.milliseconds(0...250))
            return
        }
        guard entry.records != records else { return }
        if entry.records.name != records.name {
            withdraw(entry, except: owner)
            entry.phase = .probing(sent: 0)
            entry.due = max(now + jitter.milliseconds(0...250), earliestProbe(entry))
        } else if entry.isAnnounced {
            // Unique records flush the old ones (§8.4); old shared records must be withdrawn.
            var old = entry
            old.records.unique = entry.records.unique.filter { record in
                !records.unique.contains { $0.type == record.type }
            }
            withdraw(old, except: owner, keeping: records)
            entry.phase = .announcing(sent: 0)
            entry.due = now
        }
        entry.records = records
        entries[owner] = entry
        rebuildIndex()
    }

    /// Sends the goodbye.
    mutating func remove(_ owner: OwnedRecords.Owner) {
        guard let entry = entries.removeValue(forKey: owner) else { return }
        withdraw(entry, except: owner)
        rebuildIndex()
    }

    mutating func removeAll() {
        let records = Set(entries.values.filter(\.isAnnounced).flatMap(\.records.all)).map(\.goodbye)
        entries = [:]
        send(records)
        rebuildIndex()
    }

    // MARK: Time

    var deadline: NIODeadline? {
        let dues = entries.values.compactMap(\.due)
        return (dues + [pending.deadline].compactMap { $0 }).min()
    }

    mutating func handleTimeout(at now: NIODeadline) {
        probe(at: now)
        announce(at: now)
        let answers = pending.take(at: now)
        if !answers.isEmpty { multicast(answers, at: now) }
    }

    private mutating func probe(at now: NIODeadline) {
        var probed: [OwnedRecords] = []
        for (owner, entry) in entries {
            guard case .probing(let sent) = entry.phase, let due = entry.due, due <= now else { continue }
            if sent < Self.probeCount {
                probed.append(entry.records)
                entries[owner]?.phase = .probing(sent: sent + 1)
                entries[owner]?.due = now + Self.probeInterval
            } else {
                entries[owner]?.phase = .announcing(sent: 0)
                entries[owner]?.due = now
            }
        }
        // In an order that does not depend on hashing, so that tests are repeatable.
        probed.sort { $0.name.wire.lexicographicallyPrecedes($1.name.wire) }
        for run in DNSMessage.runs(probed, Self.probe) { transmit(Self.probe(run)) }
    }

    private static func probe(_ records: [OwnedRecords]) -> DNSMessage {
        var message = DNSMessage()
        message.questions = records.map { DNSQuestion(name: $0.name, type: DNSRecordType.any, wantsUnicast: true) }
        message.authorities = records.flatMap(\.unique).map { record in
            // Only responses have this bit (§10.2).
            var record = record
            record.isUnique = false
            return record
        }
        return message
    }

    private mutating func announce(at now: NIODeadline) {
        var announced: Set<DNSRecord> = []
        for (owner, entry) in entries {
            guard case .announcing(let sent) = entry.phase, let due = entry.due, due <= now else { continue }
            announced.formUnion(entry.records.all)
            let isLast = sent >= Self.announcementIntervals.count
            entries[owner]?.phase = isLast ? .established : .announcing(sent: sent + 1)
            entries[owner]?.due = isLast ? nil : now + Self.announcementIntervals[sent]
            if isLast { entries[owner]?.conflictCount = 0 }
        }
        guard !announced.isEmpty else { return }
        rebuildIndex()
        send(Array(announced))
        for record in announced { sentAt[record.identity] = now }
    }

    // MARK: Conflicts

    /// Checks for records that conflict with ours (§8.1, §9).
    ///
    /// - Parameter isOurs: Whether we announce the same record on some link.
    /// - Returns: The owners whose names must change.
    mutating func receive(
        response: DNSMessage, isOurs: (DNSRecord) -> Bool, at now: NIODeadline
    ) -> [OwnedRecords.Owner] {
        let records = response.answers + response.additions
        for record in records { pending.suppress(record) }
        var renamed: [OwnedRecords.Owner] = []
        var hasConflict = false
        let owners = Dictionary(entries.map { ($1.records.name, $0) }, uniquingKeysWith: { first, _ in first })
        for record in records where record.ttl > 0 && record.dnsClass == DNSClass.internet {
            guard let owner = owners[record.name], var entry = entries[owner], !renamed.contains(owner),
                !isOurs(record)
            else { continue }
            let isProbing = if case .probing = entry.phase { true } else { false }
            guard isProbing || entry.records.unique.contains(where: { $0.type == record.type }) else { continue }
            hasConflict = true
            entry.conflictCount += 1
            entry.lastConflict = now
            if isProbing {
                renamed.append(owner)
            } else {
                // If another host has the name, it answers the probe, and then the name changes.
                entry.phase = .probing(sent: 0)
                entry.due = max(now, earliestProbe(entry))
            }
            entries[owner] = entry
        }
        if hasConflict { rebuildIndex() }
        return renamed
    }

    private func earliestProbe(_ entry: Entry) -> NIODeadline {
        guard entry.conflictCount >= Self.conflictLimit, let last = entry.lastConflict else {
            return .uptimeNanoseconds(0)
        }
        return last + Self.conflictWait
    }

    /// §8.2: another host probes for the same name at the same time.
    mutating func receive(probe: DNSMessage, at now: NIODeadline) {
        for (owner, entry) in entries {
            guard case .probing(let sent) = entry.phase, sent > 0 else { continue }
            let theirs = probe.authorities.filter { $0.name == entry.records.name }
            if !theirs.isEmpty, entry.records.losesTieBreak(against: theirs) {
                entries[owner]?.phase = .probing(sent: 0)
                entries[owner]?.due = now + Self.tieBreakWait
            }
        }
    }

    // MARK: Sending

    private mutating func rebuildIndex() {
        index = [:]
        var identities: Set<DNSRecord.Identity> = []
        for entry in entries.values where entry.isAnnounced {
            for record in entry.records.all where identities.insert(record.identity).inserted {
                index[record.name, default: []].append(record)
            }
        }
        sentAt = sentAt.filter { identities.contains($0.key) }
        pending.keep { identities.contains($0) }
    }

    /// The goodbye of an entry's records, except for those that other entries of ours, or its new records, still have.
    private mutating func withdraw(_ entry: Entry, except owner: OwnedRecords.Owner, keeping new: OwnedRecords? = nil) {
        guard entry.isAnnounced else { return }
        var kept = Set(new?.all.map(\.identity) ?? [])
        for (other, its) in entries where other != owner && its.isAnnounced {
            kept.formUnion(its.records.all.map(\.identity))
        }
        send(entry.records.all.filter { !kept.contains($0.identity) }.map(\.goodbye))
    }

    mutating func multicast(_ answers: [DNSRecord], at now: NIODeadline) {
        let additions = additions(to: answers) { record in
            self.sentAt[record.identity].map { $0 + Self.recordInterval > now } ?? false
        }
        send(answers, additions: additions)
        for record in answers + additions { sentAt[record.identity] = now }
    }

    /// Sends to the group, in as few packets as possible.
    private mutating func send(_ answers: [DNSRecord], additions: [DNSRecord] = []) {
        let answers = answers.sorted { $0.comparable.lexicographicallyPrecedes($1.comparable) }
        for message in Self.responses(answers, additions: additions) { transmit(message) }
    }

    static func responses(_ answers: [DNSRecord], additions: [DNSRecord]) -> [DNSMessage] {
        var messages = DNSMessage.runs(answers) { DNSMessage(isResponse: true, answers: $0) }
            .map { DNSMessage(isResponse: true, answers: $0) }
        // Additional records are optional: those that do not fit are omitted.
        guard var last = messages.popLast() else { return [] }
        last.additions = additions
        while !last.additions.isEmpty, last.encoded().count > DNSMessage.packetSize {
            last.additions.removeLast((last.additions.count + 1) / 2)
        }
        return messages + [last]
    }

    mutating func transmit(_ message: DNSMessage, to destination: Transmission.Destination = .group) {
        transmissions.append(Transmission(bytes: message.encoded(), destination: destination))
    }
}
