import IoTCore
import NIOCore
import NIOPosix
import Testing

@testable import NetConfig

/// With sockets, on the loopback interface.
@Suite(.serialized) struct DiscoverySocketTests {
    private static let interfaces: @Sendable () -> [LANInterface] = { LANInterface.loopback().map { [$0] } ?? [] }

    @Test("A search finds the cameras that an announcer announces, also one that comes while it goes on")
    func search() async throws {
        let loops = MultiThreadedEventLoopGroup.singleton
        let announcer = try await WSDAnnouncer.start(on: loops.next(), interfaces: Self.interfaces)
        try await announcer.update([.numbered(1)])
        let finder = WSDFinder(loops: loops, interfaces: Self.interfaces)
        var found: [String: Int] = [:]
        for await sighting in finder.find(for: .seconds(20)) {
            if case .found(let device) = sighting, let id = device.deviceID { found[id, default: 0] += 1 }
            if found.count == 1 { try await announcer.update([.numbered(1), .numbered(2)]) }
            if found.count == 2 { break }
        }
        #expect(Set(found.keys) == Set([1, 2].map { AnnouncedCamera.numbered($0).deviceID }))
        // Bye is heard by a search that goes on.
        let gone = Task { () -> String? in
            for await sighting in finder.find(for: .seconds(20)) {
                if case .found = sighting { try await announcer.stop() }
                if case .gone(let identity, .wsDiscovery) = sighting { return identity }
            }
            return nil
        }
        let endpoints = [1, 2].map { WSDTarget(.numbered($0)).endpoint }
        #expect(endpoints.contains(try await gone.value ?? ""))
    }

    @Test("An answer of several kilobytes, which cameras with gSOAP send, arrives complete", .timeLimit(.minutes(1)))
    func large() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let announcer = try await WSDAnnouncer.start(on: loop, interfaces: Self.interfaces)
        try await announcer.update([.numbered(1)])
        let camera = try await loop.submit {
            let sockets = LANSocket.open(Self.interfaces(), .ask, eventLoop: loop) { _, _ in }
            return NIOLoopBound(sockets, eventLoop: loop)
        }.get()
        let datagram = Fixture.gsoap.bytes
        #expect(datagram.count > 3_000)
        var models: [String] = []
        for await sighting in WSDFinder(loops: loop, interfaces: Self.interfaces).find(for: .seconds(20)) {
            guard case .found(let device) = sighting else { continue }
            // The search has found our own camera, so it is listening.
            if device.deviceID != nil { loop.execute { camera.value.forEach { $0.sendToGroup(datagram) } } }
            if let model = device.model { models.append(model) }
            if !models.isEmpty { break }
        }
        #expect(models == ["IPC-model"])
        try await loop.submit { camera.value.forEach { $0.close() } }.get()
        try await announcer.stop()
    }

    @Test("The loopback interface knows who is on its link")
    func link() throws {
        let interface = try #require(LANInterface.loopback())
        #expect(interface.isOnLink(IPAddress("127.1.2.3")!))
        #expect(!interface.isOnLink(IPAddress("192.0.2.1")!))
        #expect(!interface.isOnLink(IPAddress("2001:db8::1")!))
    }
}
