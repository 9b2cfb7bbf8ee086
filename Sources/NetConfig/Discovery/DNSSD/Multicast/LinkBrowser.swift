import IoTCore
import NIOCore

/// Searches for services on one link: sends questions, and keeps answers for their lifetime (RFC 6762 §5, §10;
/// RFC 6763 §4). Owns no socket.
struct LinkBrowser {
    private(set) var questions: [ServiceType: BackOff] = [:]
    private(set) var instances: [DNSName: KnownInstance] = [:]
    private(set) var hosts: [DNSName: KnownHost] = [:]
    private var counts: [[UInt8]: Int] = [:]
    private var reported: [DNSName: ServiceInstance] = [:]
    private var changed: Set<DNSName> = []
    private var changedHosts: Set<DNSName> = []
    var transmissions: [Transmission] = []
    var events: [ServiceEvent] = []
    private var jitter: Jitter
    /// Appended to IPv6 link-local addresses.
    private let zone: String

    /// The maximum numbers of services of the link, and of one sender. Further ones are ignored.
    static let maximumInstances = 1_024
    static let maximumOfSource = 256

    init(zone: String, jitter: Jitter) {
        self.zone = zone
        self.jitter = jitter
    }

    mutating func browse(_ types: Set<ServiceType>, at now: NIODeadline) {
        for type in types where questions[type] == nil {
            // §5.2: the first question waits for a random time, because many machines may start at the same time.
            questions[type] = BackOff(due: now + jitter.milliseconds(20...120))
        }
        for type in questions.keys where !types.contains(type) {
            questions[type] = nil
            for (name, instance) in instances where instance.key.type == type { remove(name) }
        }
        forgetHosts()
        report(at: now)
    }

    // MARK: Answers

    /// - Parameter source: the sender's address.
    mutating func receive(_ response: DNSMessage, from source: [UInt8], at now: NIODeadline) {
        guard !questions.isEmpty else { return }
        let records = (response.answers + response.additions).filter { $0.dnsClass == DNSClass.internet }
        // Records that name others come first, whatever their order in the message.
        for record in records {
            if case .pointer(let name) = record.value { takePointer(record, to: name, from: source, at: now) }
        }
        for record in records { takeDetail(record, at: now) }
        forgetHosts()
        for record in records {
            if case .address(let address) = record.value { take(record, address: address, at: now) }
        }
        report(at: now)
    }

    private mutating func takePointer(
        _ record: DNSRecord, to name: DNSName, from source: [UInt8], at now: NIODeadline
    ) {
        guard let type = questions.keys.first(where: { $0.name == record.name }) else { return }
        if record.ttl == 0 {
            instances[name]?.pointer.end(at: now)
        } else if instances[name] != nil {
            instances[name]?.pointer = Lease(ttl: record.ttl, at: now, jitter: &jitter)
        } else if instances.count < Self.maximumInstances, counts[source, default: 0] < Self.maximumOfSource,
            let key = KnownInstance.key(name, of: type)
        {
            counts[source, default: 0] += 1
            instances[name] = KnownInstance(
                key: key, source: source, pointer: Lease(ttl: record.ttl, at: now, jitter: &jitter))
            changed.insert(name)
        }
    }

    private mutating func takeDetail(_ record: DNSRecord, at now: NIODeadline) {
        guard var instance = instances[record.name] else { return }
        switch record.value {
        case .service(_, _, let port, let target):
            let place = KnownInstance.Place(host: target, port: Int(port))
            if record.ttl > 0 {
                instance.place = (place, Lease(ttl: record.ttl, at: now, jitter: &jitter))
                if hosts[target] == nil { hosts[target] = KnownHost() }
            } else if instance.place?.value == place {
                instance.place?.lease.end(at: now)
            }
        case .text(let strings):
            if record.ttl > 0 {
                instance.text = (ServiceText.parse(strings), Lease(ttl: record.ttl, at: now, jitter: &jitter))
            }
        default: return
        }
        instances[record.name] = instance
        changed.insert(record.name)
    }

    private mutating func take(_ record: DNSRecord, address: [UInt8], at now: NIODeadline) {
        guard var host = hosts[record.name] else { return }
        if record.isUnique, record.ttl > 0 {
            // §10.2: not those of the same second, because a host with many addresses may send several packets.
            for (other, lease) in host.addresses
            where other.count == address.count && other != address && lease.received + .seconds(1) < now {
                host.addresses[other]?.end(at: now)
            }
        }
        if record.ttl == 0 {
            host.addresses[address]?.end(at: now)
        } else if host.addresses[address] != nil || host.addresses.count < KnownHost.maximumAddresses {
            host.addresses[address] = Lease(ttl: record.ttl, at: now, jitter: &jitter)
        }
        hosts[record.name] = host
        changedHosts.insert(record.name)
    }

    // MARK: Time

    var deadline: NIODeadline? {
        let dues = questions.values.map(\.due).min()
        let ends = instances.values.lazy.flatMap(\.deadlines).min()
        let hostEnds = hosts.values.lazy.flatMap(\.deadlines).min()
        return [dues, ends, hostEnds].compactMap { $0 }.min()
    }

    mutating func handleTimeout(at now: NIODeadline) {
        expire(at: now)
        ask(at: now)
        report(at: now)
    }

    private mutating func expire(at now: NIODeadline) {
        for (name, instance) in instances {
            if instance.pointer.expires <= now {
                remove(name)
                continue
            }
            if let lease = instance.place?.lease, lease.expires <= now {
                instances[name]?.place = nil
                changed.insert(name)
            }
            if let lease = instance.text?.lease, lease.expires <= now {
                instances[name]?.text = nil
                changed.insert(name)
            }
        }
        for (name, host) in hosts {
            for (address, lease) in host.addresses where lease.expires <= now {
                hosts[name]?.addresses[address] = nil
                changedHosts.insert(name)
            }
        }
        forgetHosts()
    }

    private mutating func remove(_ name: DNSName) {
        guard let instance = instances.removeValue(forKey: name) else { return }
        let count = (counts[instance.source] ?? 1) - 1
        counts[instance.source] = count == 0 ? nil : count
        changed.insert(name)
    }

    /// The hosts without services.
    private mutating func forgetHosts() {
        let used = Set(instances.values.compactMap { $0.place?.value.host })
        if hosts.count != used.count { hosts = hosts.filter { used.contains($0.key) } }
    }

    // MARK: Questions

    private mutating func ask(at now: NIODeadline) {
        var asked: Set<DNSQuestion> = []
        for (type, question) in questions where question.due <= now {
            // §5.4: the first question asks for unicast, so that recent answers are not sent to the group again.
            asked.insert(DNSQuestion(name: type.name, type: DNSRecordType.ptr, wantsUnicast: question.count == 0))
            questions[type]?.asked(at: now)
        }
        for name in instances.keys { ask(instance: name, &asked, at: now) }
        for name in hosts.keys { ask(host: name, &asked, at: now) }
        send(asked, at: now)
    }

    private mutating func ask(instance name: DNSName, _ asked: inout Set<DNSQuestion>, at now: NIODeadline) {
        guard var instance = instances[name] else { return }
        if instance.pointer.isRefreshDue(at: now) {
            instance.pointer.refreshed(&jitter)
            asked.insert(DNSQuestion(name: instance.key.type.name, type: DNSRecordType.ptr))
        }
        if instance.place?.lease.isRefreshDue(at: now) ?? false {
            instance.place?.lease.refreshed(&jitter)
            asked.insert(DNSQuestion(name: name, type: DNSRecordType.srv))
        }
        if instance.text?.lease.isRefreshDue(at: now) ?? false {
            instance.text?.lease.refreshed(&jitter)
            asked.insert(DNSQuestion(name: name, type: DNSRecordType.txt))
        }
        if let question = instance.question, question.due <= now {
            instance.question?.asked(at: now)
            if instance.place == nil { asked.insert(DNSQuestion(name: name, type: DNSRecordType.srv)) }
            if instance.text == nil { asked.insert(DNSQuestion(name: name, type: DNSRecordType.txt)) }
        }
        instances[name] = instance
    }

    private mutating func ask(host name: DNSName, _ asked: inout Set<DNSQuestion>, at now: NIODeadline) {
        guard var host = hosts[name] else { return }
        for (address, lease) in host.addresses where lease.isRefreshDue(at: now) {
            host.addresses[address]?.refreshed(&jitter)
            let type = address.count == 4 ? DNSRecordType.a : DNSRecordType.aaaa
            asked.insert(DNSQuestion(name: name, type: type))
        }
        if let question = host.question, question.due <= now {
            host.question?.asked(at: now)
            for type in [DNSRecordType.a, DNSRecordType.aaaa] { asked.insert(DNSQuestion(name: name, type: type)) }
        }
        hosts[name] = host
    }

    /// §7.1, §7.2: contains the known answers; several packets if they do not fit into one.
    private mutating func send(_ asked: Set<DNSQuestion>, at now: NIODeadline) {
        guard !asked.isEmpty else { return }
        let sorted = asked.sorted { ($0.name.description, $0.type) < ($1.name.description, $1.type) }
        let types = questions.keys.filter { type in
            asked.contains { $0.type == DNSRecordType.ptr && $0.name == type.name }
        }
        let known = instances.filter { name, instance in
            types.contains(instance.key.type) && instance.pointer.isFresh(at: now)
        }.map { name, instance in
            DNSRecord(
                name: instance.key.type.name, type: DNSRecordType.ptr, ttl: instance.pointer.remaining(at: now),
                value: .pointer(name))
        }.sorted { $0.comparable.lexicographicallyPrecedes($1.comparable) }
        var messages = DNSMessage.runs(sorted) { DNSMessage(questions: $0) }.map { DNSMessage(questions: $0) }
        let answers = DNSMessage.runs(known) { DNSMessage(answers: $0) }
        if messages.count == 1, answers.count == 1 {
            messages[0].answers = answers[0]
            if messages[0].encoded().count > DNSMessage.packetSize { messages = [DNSMessage(questions: sorted)] }
        }
        if messages.allSatisfy(\.answers.isEmpty) { messages += answers.map { DNSMessage(answers: $0) } }
        for place in messages.indices.dropLast() where !(messages[place + 1].answers.isEmpty) {
            messages[place].isTruncated = true
        }
        for message in messages {
            transmissions.append(Transmission(bytes: message.encoded(), destination: .group))
        }
    }

    // MARK: Reports

    /// Reports changes, and asks for missing records.
    private mutating func report(at now: NIODeadline) {
        if !changedHosts.isEmpty {
            for (name, instance) in instances
            where instance.place.map({ changedHosts.contains($0.value.host) }) ?? false {
                changed.insert(name)
            }
            changedHosts = []
        }
        for name in changed {
            let instance = instances[name]
            if let instance, instance.place == nil || instance.text == nil {
                if instance.question == nil {
                    instances[name]?.question = BackOff(due: now + jitter.milliseconds(20...120))
                }
            } else {
                instances[name]?.question = nil
            }
            if let host = instance?.place?.value.host, let known = hosts[host] {
                if !known.addresses.isEmpty {
                    hosts[host]?.question = nil
                } else if known.question == nil {
                    hosts[host]?.question = BackOff(due: now + jitter.milliseconds(20...120))
                }
            }
            guard let instance, let found = resolved(instance) else {
                // Its PTR record is valid for 75 minutes, its host's records for two. A host that does not renew these
                // is gone, or returns with its next answer.
                if let last = reported.removeValue(forKey: name) { events.append(.lost(last.key)) }
                continue
            }
            if reported[name] != found {
                reported[name] = found
                events.append(.found(found))
            }
        }
        changed = []
    }

    private func resolved(_ instance: KnownInstance) -> ServiceInstance? {
        guard let place = instance.place?.value, let text = instance.text?.value, let host = hosts[place.host],
            !host.addresses.isEmpty, let name = ServiceText.readable(Array(place.host.description.utf8))
        else { return nil }
        let addresses = host.addresses.keys.compactMap { IPAddress(packed: $0, zone: zone) }
        return ServiceInstance(
            key: instance.key, host: name, port: place.port,
            addresses: addresses.sorted { $0.description < $1.description }, text: text)
    }
}
