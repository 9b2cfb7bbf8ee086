import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import NIOCore
import Testing

@testable import Gateway

/// How much of the shared resources one account may take, with a hub that never answers a call.
@Suite struct GatewaySharesTests {
    static let offer = """
        v=0\r
        o=- 7 1 IN IP4 0.0.0.0\r
        s=-\r
        t=0 0\r
        a=group:BUNDLE 0\r
        m=video 9 UDP/TLS/RTP/SAVPF 96\r
        c=IN IP4 0.0.0.0\r
        a=ice-ufrag:abcd\r
        a=ice-pwd:0123456789abcdefghijkl\r
        a=fingerprint:sha-256 6B:8B:F0:65:5F:78:E2:51:3B:AC:6F:F3:3F:46:1B:35:DC:B8:5F:64:1A:24:C2:43:F0:A1:58:D0:A1:2C:19:08\r
        a=setup:actpass\r
        a=mid:0\r
        a=recvonly\r
        a=rtcp-mux\r
        a=rtpmap:96 H264/90000\r

        """

    private func gateway(
        _ body: (LocalGateway) async throws -> Void
    ) async throws {
        let devices = (0..<40).map { number -> JSONValue in
            [
                "id": .string(String(repeating: "0", count: 30) + (number < 10 ? "0\(number)" : "\(number)")),
                "name": .string("cam\(number)"), "role": "guest", "online": true, "actions": ["view"],
            ]
        }
        let link = ScriptedLink { _ throws(IoTError) in ["devices": .array(devices), "more": false] }
        try await withGateway(link, body)
    }

    /// - Returns: the error codes of the requests that were refused at once.
    private func flood(
        _ gateway: LocalGateway, count: Int, waiting: Int,
        _ ask: @escaping @Sendable (any GatewaySession, Int) async throws -> Void,
        _ meanwhile: () async throws -> Void
    ) async throws -> [ErrorCode] {
        let guest = gateway.session(of: "guest")
        return try await withThrowingTaskGroup(of: ErrorCode.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        try await ask(guest, number)
                        return .success
                    } catch let error as IoTError {
                        return error.code
                    }
                }
            }
            var codes: [ErrorCode] = []
            while codes.count < count - waiting, let code = try await group.next() { codes.append(code) }
            try await meanwhile()
            group.cancelAll()
            try await group.waitForAll()
            return codes
        }
    }

    @Test("480 concurrent calls of one guest: those above its part are refused, none is lost, others may call")
    func calls() async throws {
        try await gateway { gateway in
            let codes = try await flood(gateway, count: 480, waiting: 32) { guest, _ in
                _ = try await guest.calls.open("cam1", BrowserWish(offer: Self.offer))
            } _: {
                #expect(gateway.relayed.all.count == 32)
                #expect(gateway.quotas.table[.calls]?.used == 32)
                let other = AccountHolder.account(AccessID(rawValue: "other")!)
                _ = try gateway.quotas.take(.calls, for: other)
            }
            #expect(codes == Array(repeating: .tooManyConnections, count: 448))
            #expect(gateway.relayed.all.isEmpty)
            #expect(gateway.quotas.table[.calls]?.used == 0)
            #expect(gateway.leases.count == 0)
        }
    }

    @Test("One guest gets half of the connections to cameras, and failed connections are returned")
    func channels() async throws {
        try await gateway { gateway in
            let codes = try await flood(gateway, count: 20, waiting: 8) { guest, number in
                _ = try await guest.channels.open(ChannelRequest(device: "cam\(number)"))
            } _: {
                #expect(gateway.quotas.table[.channels]?.used == 8)
            }
            #expect(codes == Array(repeating: .tooManyConnections, count: 12))
            #expect(gateway.quotas.table[.channels]?.used == 0)
            #expect(gateway.quotas.table[.channelUses]?.used == 0)
        }
    }

    @Test("One guest gets at most half of the readers, and guests never get the owner's part; each part is released")
    func readers() {
        let quotas = Quotas()
        let guests = ["one", "two"].compactMap { AccessID(rawValue: $0).map { AccountHolder.account($0) } }
        var parts = guests.map { guest in (0..<200).compactMap { _ in try? quotas.take(.readers, for: guest) } }
        #expect(parts.map(\.count) == [128, 96])
        let error = #expect(throws: IoTError.self) { try quotas.take(.readers, for: guests[1]) }
        #expect(error?.code == .tooManyConnections)
        parts.append((0..<32).compactMap { _ in try? quotas.take(.readers, for: .owner) })
        #expect(parts[2].count == 32)
        parts = []
        #expect(quotas.table[.readers]?.used == 0)
    }

    @Test(
        "One guest has four raw media bodies, others and the owner still get theirs; each part ends with its body"
    )
    func rawBodies() async throws {
        try await gateway { gateway in
            let guest = AccountHolder.account(AccessID(rawValue: "guest")!)
            var bodies: [MediaBody] = []
            for _ in 0..<4 {
                var body = MediaBody(contentType: "video/x-yuv4mpeg", bytes: ByteBuffer())
                body.part = try gateway.quotas.take(.rawBodies, for: guest)
                bodies.append(body)
            }
            let channels = gateway.session(of: "guest").channels
            let asks: [() async throws -> MediaBody] = [
                { try await channels.rawVideo("none", frames: nil, fit: nil) },
                { try await channels.rawAudio("none", frames: nil) },
                { try await channels.dump("none", .outOfDecoderVideo) },
            ]
            for ask in asks {
                let refusal = await #expect(throws: IoTError.self) { _ = try await ask() }
                #expect(refusal?.code == .tooManyRequests)
                let other = gateway.session(of: "other").channels
                let unknown = await #expect(throws: IoTError.self) {
                    _ = try await other.rawVideo("none", frames: nil, fit: nil)
                }
                #expect(unknown?.code == .notFound)
            }
            for number in 0..<8 {
                let other = AccountHolder.account(AccessID(rawValue: "other\(number / 4)")!)
                bodies.append(MediaBody(contentType: "audio/wav", bytes: ByteBuffer()))
                bodies[bodies.count - 1].part = try gateway.quotas.take(.rawBodies, for: other)
            }
            let late = AccountHolder.account(AccessID(rawValue: "late")!)
            #expect(throws: IoTError.self) { try gateway.quotas.take(.rawBodies, for: late) }
            _ = try gateway.quotas.take(.rawBodies, for: .owner)
            bodies = []
            #expect(gateway.quotas.table[.rawBodies]?.used == 0)
        }
    }

    @Test("One guest has four dumps of coded frames, which leave its raw media bodies alone")
    func dumps() async throws {
        try await gateway { gateway in
            let guest = AccountHolder.account(AccessID(rawValue: "guest")!)
            let parts = try (0..<4).map { _ in try gateway.quotas.take(.dumps, for: guest) }
            let channels = gateway.session(of: "guest").channels
            let coded = await #expect(throws: IoTError.self) { _ = try await channels.dump("none", .intoDecoderAudio) }
            #expect(coded?.code == .tooManyRequests)
            let raw = await #expect(throws: IoTError.self) { _ = try await channels.dump("none", .outOfDecoderAudio) }
            #expect(raw?.code == .notFound)
            withExtendedLifetime(parts) {}
        }
    }

    @Test("A call is closed when its lease ends, even while it is being set up")
    func callEnds() async throws {
        try await gateway { gateway in
            let call = Task {
                try await gateway.session(of: "guest").calls.open("cam1", BrowserWish(offer: Self.offer))
            }
            while gateway.relayed.all.isEmpty { await Task.yield() }
            let id = try #require(gateway.relayed.all.first?.id)
            let closing = Task { await gateway.relayed.close(id) }
            while !gateway.relayed.all.isEmpty { await Task.yield() }
            #expect(throws: IoTError.self) { try gateway.relayed.call(id) }
            call.cancel()
            closing.cancel()
            await #expect(throws: IoTError.self) { try await call.value }
            await closing.value
        }
    }
}
