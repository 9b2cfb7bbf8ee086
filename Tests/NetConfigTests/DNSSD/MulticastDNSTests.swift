import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import NetConfig

@Suite struct MulticastDNSTests {
    // RFC 6762 §8.1, §8.3.
    @Test("A name is probed three times, 250 ms apart, and then announced three times, after one and two seconds")
    func announcing() throws {
        var lan = VirtualLAN(seed: 1)
        let node = lan.add()
        lan.announce(node, [VirtualLAN.camera("Front")])
        lan.run(for: .seconds(60))
        let own = lan.packets.filter { $0.message?.isResponse == false }
        let probed = own.filter { $0.message?.questions.contains { $0.name.description.hasPrefix("Front.") } ?? false }
        #expect(probed.count == 3)
        let gaps = zip(probed.dropFirst(), probed).map { ($0.at - $1.at).nanoseconds / 1_000_000 }
        #expect(gaps == [250, 250])
        let announced = lan.packets.filter { packet in
            packet.message?.isResponse == true
                && (packet.message?.answers.contains { $0.type == DNSRecordType.srv } ?? false)
        }
        #expect(announced.count == 3)
        #expect(zip(announced.dropFirst(), announced).map { ($0.at - $1.at).nanoseconds / 1_000_000_000 } == [1, 2])
        let first = try #require(announced.first?.message)
        #expect(first.answers.filter(\.isUnique).allSatisfy { $0.type != DNSRecordType.ptr })
        #expect(first.answers.contains { $0.name == ServiceType.listing })
        #expect(lan.names[node].values.map { $0 } == ["Front"])
        // Afterwards it is quiet.
        #expect(lan.packets.allSatisfy { ($0.at - lan.now).nanoseconds < -50_000_000_000 })
    }

    @Test("Ten cameras on ten machines are found within three seconds, each once, with all that they say")
    func finding() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var lan = VirtualLAN(seed: seed)
            for number in 0..<10 {
                let node = lan.add()
                lan.announce(node, [VirtualLAN.camera("Camera \(number)", hasOwner: number == 3)])
            }
            lan.run(for: .seconds(30))
            let seeker = lan.add()
            lan.browse(seeker)
            lan.run(for: .seconds(3))
            #expect(lan.events[seeker].count == 10, "seed \(seed)")
            let found = lan.events[seeker].compactMap { event in
                if case .found(let instance) = event { instance.device } else { nil }
            }
            let third = try #require(found.first { $0.name == "Camera 3" })
            #expect(
                third.deviceID == VirtualLAN.deviceID("Camera 3") && third.productID == "12345"
                    && third.hasOwner == true && third.keyFingerprint == .example)
            #expect(
                third.serialNumber == "SN-Camera 3" && third.version == "1.2" && third.macAddress == "02:00:00:00:00:07"
            )
            #expect(third.addresses.map(\.description) == ["192.0.2.7"] && third.foundBy == [.dnsSD])
            #expect(
                third.identities.isSuperset(of: [
                    "device:\(VirtualLAN.deviceID("Camera 3"))", "mac:02:00:00:00:00:07", "serial:SN-Camera 3",
                ]))
            #expect(found.filter { $0.hasOwner == false }.count == 9)
        }
    }

    @Test("With a fifth of all packets lost they are found, too, later", arguments: 1...50 as ClosedRange<UInt64>)
    func loss(seed: UInt64) {
        var lan = VirtualLAN(seed: seed, loss: 20)
        for number in 0..<10 { lan.announce(lan.add(), [VirtualLAN.camera("Camera \(number)")]) }
        let seeker = lan.add()
        lan.browse(seeker)
        lan.run(for: .seconds(120)) { $0.found(seeker).count == 10 }
        #expect(lan.found(seeker).count == 10)
    }

    @Test("Two machines that want one name at the same time get two", arguments: 1...50 as ClosedRange<UInt64>)
    func simultaneous(seed: UInt64) {
        var lan = VirtualLAN(seed: seed, loss: seed % 2 == 0 ? 20 : 0)
        let (left, right) = (lan.add(), lan.add())
        lan.announce(left, [VirtualLAN.camera("Front", id: "left")])
        lan.announce(right, [VirtualLAN.camera("Front", id: "right")])
        lan.run(for: .seconds(60))
        let names = [lan.names[left]["left"], lan.names[right]["right"]]
        #expect(Set(names) == ["Front", "Front (2)"])
        let seeker = lan.add()
        lan.browse(seeker)
        lan.run(for: .seconds(60))
        #expect(lan.found(seeker) == ["Front", "Front (2)"])
    }

    @Test("Who comes second gives way, and so does the third")
    func sequential() {
        var lan = VirtualLAN(seed: 3)
        for number in 0..<3 {
            lan.announce(lan.add(), [VirtualLAN.camera("Front", id: "\(number)")])
            lan.run(for: .seconds(10))
        }
        #expect((0..<3).map { lan.names[$0]["\($0)"] } == ["Front", "Front (2)", "Front (3)"])
    }

    // RFC 6762 §8.2.1's example: the later address wins.
    @Test("Of two probes the one with the later records wins")
    func tieBreak() throws {
        let name = try #require(DNSName.local.prefixed(by: "MyPrinter".utf8))
        let first = OwnedRecords.host(name, addresses: [[169, 254, 99, 200]])
        let second = OwnedRecords.host(name, addresses: [[169, 254, 200, 50]])
        #expect(first.losesTieBreak(against: second.unique))
        #expect(!second.losesTieBreak(against: first.unique))
        #expect(!first.losesTieBreak(against: first.unique))
        let both = OwnedRecords.host(name, addresses: [[169, 254, 99, 200], [169, 254, 99, 201]])
        #expect(first.losesTieBreak(against: both.unique) && !both.losesTieBreak(against: first.unique))
    }

    @Test("A machine with two interfaces on one network does not take itself for another")
    func twoInterfaces() {
        var lan = VirtualLAN(seed: 4)
        let node = lan.add(interfaces: 2)
        lan.announce(node, [VirtualLAN.camera("Front", id: "a")])
        lan.run(for: .seconds(30))
        #expect(lan.names[node]["a"] == "Front")
        let seeker = lan.add()
        lan.browse(seeker)
        lan.run(for: .seconds(3))
        #expect(lan.found(seeker) == ["Front"])
        let hosts = Set(
            lan.packets.flatMap { $0.message?.answers ?? [] }.filter { $0.type == DNSRecordType.a }.map(\.name))
        #expect(hosts.count == 1)
    }

    @Test("A camera with one address is announced on that address's interface only, with that address only")
    func oneAddress() throws {
        var lan = VirtualLAN(seed: 4)
        let node = lan.add(interfaces: 2)
        var camera = VirtualLAN.camera("Front")
        for (address, sources) in [("192.0.2.2", 1), ("127.0.0.1", 0)] {
            #expect(VirtualLAN.address(node, interface: 2) == [192, 0, 2, 2])
            let before = lan.packets.count
            camera.address = IPAddress(address)
            lan.announce(node, [camera])
            lan.run(for: .seconds(30))
            let records = lan.packets[before...].flatMap { $0.message?.answers ?? [] }.filter { $0.ttl > 0 }
            let addresses = records.filter { $0.type == DNSRecordType.a }.map(\.value)
            #expect(Set(addresses).count == sources && addresses.allSatisfy { $0 == .address([192, 0, 2, 2]) })
            #expect(records.isEmpty == (sources == 0))
        }
        let seeker = lan.add()
        lan.browse(seeker)
        lan.run(for: .seconds(3))
        #expect(lan.found(seeker) == [])
    }

    @Test("A goodbye ends a camera within two seconds, and the others stay")
    func goodbye() {
        var lan = VirtualLAN(seed: 5)
        let node = lan.add()
        let seeker = lan.add()
        lan.browse(seeker)
        let cameras = ["Front", "Back", "Yard"].map { VirtualLAN.camera($0) }
        lan.announce(node, cameras)
        lan.run(for: .seconds(10))
        #expect(lan.found(seeker) == ["Front", "Back", "Yard"])
        lan.announce(node, [cameras[0], cameras[2]])
        lan.run(for: .seconds(2))
        #expect(lan.found(seeker) == ["Front", "Yard"])
        // The type is still listed for the two.
        #expect(
            !lan.packets.flatMap { $0.message?.answers ?? [] }.contains {
                $0.name == ServiceType.listing && $0.ttl == 0
            })
        lan.close(node)
        lan.run(for: .seconds(2))
        #expect(lan.found(seeker).isEmpty)
    }

    @Test("A machine that ends without a word is lost when its host's records end, and asked for before")
    func expiry() {
        var lan = VirtualLAN(seed: 6)
        let node = lan.add()
        let seeker = lan.add()
        lan.browse(seeker)
        lan.announce(node, [VirtualLAN.camera("Front")])
        lan.run(for: .seconds(10))
        lan.isUp[node] = false
        let gone = lan.now
        lan.run(for: .seconds(100))
        #expect(lan.found(seeker) == ["Front"])
        lan.run(for: .seconds(25))
        #expect(lan.found(seeker).isEmpty)
        let asked = lan.packets.filter { $0.from == seeker && $0.at > gone }
        #expect((4...40).contains(asked.count), "\(asked.count) questions")
        // The record that names it ends after 75 minutes, and nothing is kept.
        lan.run(for: .hours(2))
        #expect(lan.nodes[seeker].deadline.map { $0 > lan.now } ?? true)
        let late = lan.packets.filter { $0.from == seeker && $0.at + .hours(1) > lan.now }
        #expect(late.count < 20, "\(late.count) questions in an hour")
    }

    @Test("A camera that goes on is never lost, for hours, and few packets are enough")
    func renewal() {
        var lan = VirtualLAN(seed: 7, loss: 5)
        let node = lan.add()
        let seeker = lan.add()
        lan.browse(seeker)
        lan.announce(node, [VirtualLAN.camera("Front")])
        lan.run(for: .hours(4))
        #expect(lan.found(seeker) == ["Front"])
        #expect(!lan.events[seeker].contains { if case .lost = $0 { true } else { false } })
        // Each 96 s or so one question for the host's records and one answer.
        #expect(lan.packets.count < 1_500, "\(lan.packets.count) packets")
    }

    @Test("A changed value is announced, and seen at once")
    func change() throws {
        var lan = VirtualLAN(seed: 8)
        let node = lan.add()
        let seeker = lan.add()
        lan.browse(seeker)
        lan.announce(node, [VirtualLAN.camera("Front", hasOwner: false)])
        lan.run(for: .seconds(10))
        lan.announce(node, [VirtualLAN.camera("Front", hasOwner: true)])
        lan.run(for: .seconds(1))
        guard case .found(let instance) = try #require(lan.events[seeker].last) else { return #expect(Bool(false)) }
        #expect(instance.device.hasOwner == true)
        // Without a new probe: the name is ours.
        lan.run(for: .seconds(10))
        #expect(lan.names[node].values.map { $0 } == ["Front"])
    }

    @Test("A new name comes and the old one goes")
    func renaming() {
        var lan = VirtualLAN(seed: 9)
        let node = lan.add()
        let seeker = lan.add()
        lan.browse(seeker)
        lan.announce(node, [VirtualLAN.camera("Front", id: "a")])
        lan.run(for: .seconds(10))
        lan.announce(node, [VirtualLAN.camera("Gate", id: "a")])
        lan.run(for: .seconds(4))
        #expect(lan.found(seeker) == ["Gate"])
    }

    @Test("A hundred cameras of one machine: every packet fits, and known answers go on in further packets")
    func many() {
        var lan = VirtualLAN(seed: 10)
        let node = lan.add()
        lan.announce(node, (0..<100).map { VirtualLAN.camera("Camera with a rather long name, number \($0)") })
        lan.run(for: .seconds(30))
        let seeker = lan.add()
        lan.browse(seeker)
        lan.run(for: .seconds(3))
        #expect(lan.found(seeker).count == 100)
        #expect(lan.packets.allSatisfy { $0.bytes.count <= DNSMessage.packetSize })
        let before = lan.packets.count
        lan.run(for: .seconds(30))
        let later = lan.packets[before...]
        #expect(later.contains { $0.from == seeker && $0.message?.isTruncated == true })
        // All is known: nobody answers with a name of a service.
        #expect(
            !later.contains { $0.from == node && $0.message?.answers.contains { $0.type == DNSRecordType.ptr } == true }
        )
    }
}
