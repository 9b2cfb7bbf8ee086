import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import NetConfig

@Suite struct WSDResponderTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let peer = WSDResponder.Peer(address: IPAddress("192.0.2.9")!, port: 5000, interface: 1)

    private func responder(_ count: Int = 1, seed: UInt64 = 1) -> WSDResponder {
        WSDResponder(
            (0..<count).map { WSDTarget(.numbered($0)) }, instance: 7, random: SeededGenerator(seed: seed))
    }

    private func probe(_ filter: WSDFilter = WSDFilter(), id: String = "urn:uuid:1") -> [UInt8] {
        WSDMessage(id: id, body: .probe(filter)).bytes
    }

    /// Everything that it sends from now on.
    private func drain(_ responder: inout WSDResponder) -> [(time: NIODeadline, output: WSDResponder.Output)] {
        var outputs: [(NIODeadline, WSDResponder.Output)] = []
        while let next = responder.nextDeadline { outputs += responder.due(at: next).map { (next, $0) } }
        return outputs
    }

    @Test("A Probe that matches is answered twice, first within half a second, with types and scopes")
    func answer() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var responder = responder(seed: seed)
            responder.receive(probe(), from: peer, isOnLink: true, at: start)
            let outputs = drain(&responder)
            try #require(outputs.count == WSDRepetition.unicast)
            #expect(outputs[0].time - start <= .milliseconds(500))
            #expect(outputs[1].time - outputs[0].time >= .milliseconds(50))
            #expect(outputs.allSatisfy { $0.output.destination == .peer(peer) })
            let message = try WSDMessage(outputs[0].output.datagram)
            #expect(message.relatesTo == "urn:uuid:1" && message.sequence?.instance == 7)
            guard case .probeMatches(let targets) = message.body else { return #expect(Bool(false)) }
            #expect(targets.map(\.types) == [[WSDNamespace.camera]])
            let device = DiscoveredDevice(targets[0], from: peer.address)
            #expect(device.name == "camera 0 & ü" && device.hasOwner == false && device.nextStep == .bind)
            #expect(device.deviceID == AnnouncedCamera.numbered(0).deviceID)
        }
    }

    @Test("Types and scopes must match; our cameras do not pass for ONVIF's")
    func filters() {
        let scope = "iotlink://camera/deviceID/\(AnnouncedCamera.numbered(0).deviceID)"
        for (filter, isAnswered) in [
            (WSDFilter(types: [WSDNamespace.camera]), true), (WSDFilter(types: [WSDNamespace.videoTransmitter]), false),
            (WSDFilter(types: [WSDNamespace.camera, WSDNamespace.videoTransmitter]), false),
            (WSDFilter(scopes: [scope]), true), (WSDFilter(scopes: [scope, "iotlink://camera/name/none"]), false),
            (WSDFilter(scopes: [scope], rule: .strcmp0), true),
            (WSDFilter(scopes: ["iotlink://camera"], rule: .strcmp0), false),
            (WSDFilter(scopes: [scope], rule: .unknown), false),
        ] {
            var responder = responder()
            responder.receive(probe(filter), from: peer, isOnLink: true, at: start)
            #expect((responder.nextDeadline != nil) == isAnswered, "\(filter)")
        }
    }

    @Test("Who is off the link, repeats a message, or sends what is none gets nothing")
    func refused() {
        var responder = responder()
        responder.receive(probe(), from: peer, isOnLink: false, at: start)
        responder.receive(probe(id: ""), from: peer, isOnLink: true, at: start)
        responder.receive(Array("<a/>".utf8), from: peer, isOnLink: true, at: start)
        #expect(responder.nextDeadline == nil)
        for _ in 0..<5 { responder.receive(probe(), from: peer, isOnLink: true, at: start) }
        #expect(drain(&responder).count == WSDRepetition.unicast)
    }

    @Test("One address, and all together, get so many answers a second; the others still get theirs")
    func rate() {
        var responder = responder()
        for number in 0..<100 {
            responder.receive(probe(id: "urn:uuid:\(number)"), from: peer, isOnLink: true, at: start)
        }
        #expect(drain(&responder).count == Int(WSDLimiter.burst) * WSDRepetition.unicast)
        for last in 10..<110 {
            let other = WSDResponder.Peer(address: IPAddress("192.0.2.\(last)")!, port: 5000, interface: 1)
            responder.receive(probe(id: "urn:uuid:x"), from: other, isOnLink: true, at: start)
        }
        #expect(drain(&responder).count == (Int(WSDLimiter.totalBurst) - Int(WSDLimiter.burst)) * WSDRepetition.unicast)
        responder.receive(probe(id: "urn:uuid:later"), from: peer, isOnLink: true, at: start + .seconds(10))
        #expect(drain(&responder).count == WSDRepetition.unicast)
    }

    @Test("No answer is larger than a datagram may be, and what waits is bounded")
    func bounds() {
        var camera = AnnouncedCamera.numbered(0)
        camera.name = String(repeating: "ü", count: 2000)
        var large = WSDResponder([WSDTarget(camera)], instance: 1, random: SeededGenerator(seed: 1))
        large.receive(probe(), from: peer, isOnLink: true, at: start)
        #expect(drain(&large).allSatisfy { $0.output.datagram.count <= WSDResponder.maximumSize })
        var many = responder(300)
        for number in 0..<8 { many.receive(probe(id: "\(number)"), from: peer, isOnLink: true, at: start) }
        #expect(drain(&many).count <= WSDResponder.capacity * WSDRepetition.unicast)
    }

    @Test("Hello comes for what is new and on a new network, Bye for what goes and at the end")
    func announcements() throws {
        let two = [WSDTarget(.numbered(0)), WSDTarget(.numbered(1))]
        var responder = responder(0)
        #expect(responder.change(to: two, hasNewInterface: false, at: start).isEmpty)
        #expect(drain(&responder).count == 2 * WSDRepetition.multicast)
        #expect(responder.change(to: two, hasNewInterface: false, at: start).isEmpty && drain(&responder).isEmpty)
        #expect(responder.change(to: two, hasNewInterface: true, at: start).isEmpty)
        let hellos = drain(&responder)
        #expect(hellos.count == 2 * WSDRepetition.multicast)
        #expect(hellos.allSatisfy { $0.output.destination == .everybody })
        let byes = responder.change(
            to: [WSDTarget(.numbered(1)), WSDTarget(.numbered(2))], hasNewInterface: false, at: start)
        let endpoints = try byes.map { output in
            guard case .bye(let target) = try WSDMessage(output.datagram).body else { return "" }
            return target.endpoint
        }
        #expect(endpoints == [WSDTarget(.numbered(0)).endpoint])
        #expect(drain(&responder).count == WSDRepetition.multicast)
        #expect(responder.stop().count == 2)
        #expect(responder.nextDeadline == nil && responder.stop().isEmpty)
    }
}

extension AnnouncedCamera {
    /// One of several of ours.
    static func numbered(_ number: Int) -> AnnouncedCamera {
        let digits = String(number, radix: 16)
        return AnnouncedCamera(
            name: "camera \(number) & ü", deviceID: String(repeating: "a", count: 32 - digits.count) + digits,
            productID: "iotvideod", version: "1", hasOwner: false, port: 5000)
    }
}
