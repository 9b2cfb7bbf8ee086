import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import NetConfig

/// What strangers may not do to a responder and to a browser.
@Suite struct MulticastDNSSafetyTests {
    private static let stranger = VirtualLAN.socket([192, 0, 2, 200])

    private func announced(_ count: Int = 1, seed: UInt64 = 1) -> VirtualLAN {
        var lan = VirtualLAN(seed: seed)
        lan.announce(lan.add(), (0..<count).map { VirtualLAN.camera("Camera \($0)", id: "\($0)") })
        lan.run(for: .seconds(30))
        return lan
    }

    private static func query(
        _ type: UInt16 = DNSRecordType.ptr, name: DNSName = ServiceType.iotlink.name, unicast: Bool = false
    ) -> DNSMessage {
        DNSMessage(questions: [DNSQuestion(name: name, type: type, wantsUnicast: unicast)])
    }

    @Test("Who is not on the link gets no answer, by multicast or unicast, from any port")
    func offLink() {
        var lan = announced()
        let before = lan.packets.count
        for source in [[198, 51, 100, 7], [192, 0, 3, 1]] as [[UInt8]] {
            for port in [5353, 40_000] {
                for unicast in [true, false] {
                    lan.send(
                        Self.query(unicast: unicast).encoded(), from: VirtualLAN.socket(source, port: port), to: 0)
                }
            }
        }
        lan.run(for: .seconds(5))
        #expect(lan.packets.count == before)
        lan.send(Self.query().encoded(), from: Self.stranger, to: 0)
        lan.run(for: .seconds(5))
        #expect(lan.packets.count == before + 1)
    }

    @Test("However often it is asked for, a record goes to the group once a second")
    func rate() {
        var lan = announced()
        let before = lan.packets.count
        for _ in 0..<500 {
            lan.send(Self.query().encoded(), from: Self.stranger, to: 0)
            lan.send(Self.query(DNSRecordType.any).encoded(), from: Self.stranger, to: 0)
            lan.run(for: .milliseconds(10))
        }
        var sent: [DNSRecord.Identity: [NIODeadline]] = [:]
        for packet in lan.packets[before...] where packet.destination == .group {
            let message = packet.message
            for record in (message?.answers ?? []) + (message?.additions ?? []) {
                sent[record.identity, default: []].append(packet.at)
            }
        }
        #expect(!sent.isEmpty)
        for times in sent.values {
            #expect(times.count <= 6)
            #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 >= .seconds(1) })
        }
    }

    @Test("Unicast answers are few a second, whoever asks, and those to plain resolvers have 512 bytes at most")
    func unicast() throws {
        var lan = announced(10)
        let before = lan.packets.count
        for number in 0..<200 {
            let port = number % 2 == 0 ? 5353 : 40_000 + number
            let source = VirtualLAN.socket([192, 0, 2, UInt8(100 + number % 100)], port: port)
            var query = Self.query(unicast: true)
            query.id = UInt16(number)
            lan.send(query.encoded(), from: source, to: 0)
            lan.run(for: .milliseconds(10))
        }
        let replies = lan.packets[before...].filter { $0.destination != .group }
        #expect((10...100).contains(replies.count), "\(replies.count)")
        for reply in replies {
            guard case .unicast(let address) = reply.destination, address.port != 5353 else { continue }
            let message = try #require(reply.message)
            #expect(reply.bytes.count <= 512 && message.questions.count == 1)
            #expect(message.id == UInt16((address.port ?? 0) - 40_000))
            #expect(message.answers.allSatisfy { $0.ttl <= 10 && !$0.isUnique } && !message.answers.isEmpty)
        }
    }

    @Test("What the asker knows for half its time is not answered; what it knows for less is")
    func knownAnswers() throws {
        var lan = announced()
        let instance = try #require(ServiceType.iotlink.name.prefixed(by: "Camera 0".utf8))
        for (ttl, answers) in [(2_250, 0), (2_249, 1), (4_500, 0)] as [(UInt32, Int)] {
            var query = Self.query()
            query.answers = [
                DNSRecord(
                    name: ServiceType.iotlink.name, type: DNSRecordType.ptr, ttl: ttl, value: .pointer(instance))
            ]
            let before = lan.packets.count
            lan.send(query.encoded(), from: Self.stranger, to: 0)
            lan.run(for: .seconds(5))
            #expect(lan.packets.count - before == answers, "\(ttl) s")
        }
        // A truncated query waits for the known answers that follow (§7.2), of the same asker alone.
        for (source, answers) in [(Self.stranger, 0), (VirtualLAN.socket([192, 0, 2, 201]), 1)] {
            var query = Self.query()
            query.isTruncated = true
            let more = DNSMessage(answers: [
                DNSRecord(
                    name: ServiceType.iotlink.name, type: DNSRecordType.ptr, ttl: 4_500, value: .pointer(instance))
            ])
            let before = lan.packets.count
            lan.send(query.encoded(), from: Self.stranger, to: 0)
            lan.run(for: .milliseconds(100))
            lan.send(more.encoded(), from: source, to: 0)
            lan.run(for: .seconds(5))
            #expect(lan.packets.count - before == answers)
        }
    }

    @Test("Who claims every name that is tried slows the tries down: fifteen at once, then one in five seconds")
    func thief() {
        var lan = VirtualLAN(seed: 11)
        let node = lan.add()
        lan.announce(node, [VirtualLAN.camera("Front", id: "a")])
        var answered = 0
        for _ in 0..<6_000 {
            lan.run(for: .milliseconds(10))
            for packet in lan.packets[answered...] {
                guard let message = packet.message, !message.authorities.isEmpty else { continue }
                let claims = message.questions.map {
                    DNSRecord(name: $0.name, type: DNSRecordType.txt, ttl: 120, value: .text([[1]]))
                }
                lan.send(DNSMessage(isResponse: true, answers: claims).encoded(), from: Self.stranger, to: node)
            }
            answered = lan.packets.count
        }
        #expect(lan.packets.count < 120, "\(lan.packets.count) packets in a minute")
        #expect(lan.names[node]["a"]?.utf8.count ?? 99 <= 63)
    }

    @Test("A response from another port than 5353, or from elsewhere, is not believed")
    func forged() throws {
        var lan = VirtualLAN(seed: 12)
        let seeker = lan.add()
        lan.browse(seeker)
        let answer = DNSMessageTests.bytes(DNSMessageTests.Capture.answer)
        lan.send(answer, from: VirtualLAN.socket([192, 0, 2, 200], port: 5354), to: seeker)
        lan.send(answer, from: VirtualLAN.socket([198, 51, 100, 7]), to: seeker)
        #expect(lan.events[seeker].isEmpty)
        lan.send(answer, from: Self.stranger, to: seeker)
        #expect(lan.found(seeker) == ["Door Küche"])
        guard case .found(let instance) = try #require(lan.events[seeker].first) else { return #expect(Bool(false)) }
        #expect(instance.addresses.map(\.description) == ["192.0.2.1", "fe80::3463:57ff:fec2:d042%lan0"])
    }

    @Test("What one sender may have known is bounded, and others still have room; unreadable names are left out")
    func flood() {
        var lan = VirtualLAN(seed: 13)
        let seeker = lan.add()
        lan.browse(seeker)
        func send(_ label: [UInt8], from source: UInt8) {
            guard let name = ServiceType.rtsp.name.prefixed(by: label),
                let host = DNSName.local.prefixed(by: "h".utf8)
            else { return }
            let records = [
                DNSRecord(name: ServiceType.rtsp.name, type: DNSRecordType.ptr, ttl: 4_500, value: .pointer(name)),
                DNSRecord(
                    name: name, type: DNSRecordType.srv, ttl: 120,
                    value: .service(priority: 0, weight: 0, port: 554, target: host)),
                DNSRecord(name: name, type: DNSRecordType.txt, ttl: 4_500, value: .text([[]])),
                DNSRecord(name: host, type: DNSRecordType.a, ttl: 120, value: .address([192, 0, 2, source])),
            ]
            lan.send(
                DNSMessage(isResponse: true, answers: records).encoded(), from: VirtualLAN.socket([192, 0, 2, source]),
                to: seeker)
        }
        for label in ["\u{1B}[2J", "a\u{202E}b", String(repeating: "\u{301}", count: 31), "\u{0}"] {
            send(Array(label.utf8), from: 200)
        }
        send([0xFF, 0xFE], from: 200)
        #expect(lan.found(seeker).isEmpty)
        for number in 0..<300 { send(Array("Fake \(number)".utf8), from: 201) }
        #expect(lan.found(seeker).count == LinkBrowser.maximumOfSource)
        send(Array("Real".utf8), from: 202)
        #expect(lan.found(seeker).contains("Real"))
    }

    @Test("Five thousand damaged and shuffled packets set off no trap and little traffic")
    func noise() {
        var lan = announced(3)
        let seeker = lan.add()
        lan.browse(seeker)
        lan.run(for: .seconds(5))
        let real = lan.packets.map(\.bytes) + DNSMessageTests.Capture.all.map(DNSMessageTests.bytes)
        var random = SeededGenerator(seed: 99)
        let before = lan.packets.count
        for _ in 0..<5_000 {
            var bytes = real.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                guard let place = bytes.indices.randomElement(using: &random) else { break }
                bytes[place] = UInt8.random(in: 0 ... .max, using: &random)
            }
            lan.send(bytes, from: Self.stranger, to: Int.random(in: 0...1, using: &random))
            lan.run(for: .milliseconds(1))
        }
        #expect(lan.packets.count - before < 1_000, "\(lan.packets.count - before) packets in 5 s")
        #expect(lan.packets.allSatisfy { $0.bytes.count <= DNSMessage.maximumSize })
    }
}
