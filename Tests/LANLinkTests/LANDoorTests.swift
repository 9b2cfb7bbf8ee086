import Crypto
import IoTCore
import IoTLink
import LANLink
import NIOCore
import NIOPosix
import Synchronization
import Testing
import ThingModel

@Suite(.timeLimit(.minutes(1))) struct LANDoorTests {
    private static let read: JSONValue = ["device": "x", "path": ""]

    @Test("A gateway with a grant for its key reads as its account, within the grant's actions, and nothing else")
    func reads() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let grant = try site.grant(actions: .view)
        try await site.serve { port in
            try await site.connect(port, grant: grant) { connection in
                let answer = try await connection.request("property.read", Self.read)
                #expect(answer["value"] == "u/ann")
                for (method, code) in [
                    ("property.write", ErrorCode.relationInvalid), ("device.lanPassword", .lanNotAllowed),
                    ("lan.begin", .lanNotAllowed),
                ] {
                    let outcome = await Result { try await connection.request(method, Self.read) }
                    #expect(outcome.failureCode == code, "\(method)")
                }
            }
        }
    }

    @Test("Each wrong key and each wrong grant is refused")
    func refusals() async throws {
        let site = try LANSite()
        site.link.trust(site.trust(ended: 900_000))
        let good = try site.grant()
        let other = DeviceID(rawValue: String(repeating: "b", count: 32))!
        let wrong: [(String, String, ErrorCode)] = [
            ("for another gateway", try site.grant(key: DeviceKey()), .callTokenInvalid),
            ("expired", try site.grant(exp: 999_999), .callTokenInvalid),
            ("from before a withdrawal", try site.grant(iat: 900_000), .callTokenInvalid),
            ("of another hub", try site.grant(signedBy: Curve25519.Signing.PrivateKey()), .callTokenInvalid),
            ("for another device", try site.grant(device: other), .targetNotFound),
            ("no grant", "hello", .targetNotFound),
            ("too long", String(repeating: "a", count: 20_000), .linkUnavailable),
        ]
        try await site.serve { port in
            #expect(await site.refusal(port, grant: good) == nil)
            for (what, grant, code) in wrong {
                #expect(await site.refusal(port, grant: grant) == code, "\(what)")
            }
            #expect(await site.refusal(port, grant: good, key: DeviceKey()) == .callTokenInvalid, "a stolen grant")
            let impostor = DeviceKey().publicKey.fingerprint
            #expect(await site.refusal(port, grant: good, expecting: impostor) == .deviceKeyChanged)
        }
    }

    @Test("A device that forbids it, or limits its callers, or has never met its hub, refuses a good grant")
    func policies() async throws {
        for (site, isTrusted, code) in [
            (try LANSite(isAllowed: false), true, ErrorCode.lanNotAllowed),
            (
                try LANSite(callers: try #require(CallerKeys("\(DeviceKey().publicKey.fingerprint)"))), true,
                .callerUnproven
            ),
            (try LANSite(), false, .callTokenInvalid),
        ] {
            if isTrusted { site.link.trust(site.trust()) }
            let grant = try site.grant()
            try await site.serve { port in #expect(await site.refusal(port, grant: grant) == code) }
        }
    }

    @Test("What the hub said counts after a restart without it")
    func restart() async throws {
        let site = try LANSite()
        try await site.trustFile.keep(.init(trust: site.trust(ended: 5), hubTime: 0))
        let grant = try site.grant()
        try await site.serve { port in
            #expect(await site.refusal(port, grant: grant) == nil)
            let old = try site.grant(iat: 5)
            #expect(await site.refusal(port, grant: old) == .callTokenInvalid)
        }
    }

    @Test("A clock that is wrong after a restart does not make an expired grant valid again")
    func wrongClock() async throws {
        let site = try LANSite()
        try await site.trustFile.keep(.init(trust: site.trust(), hubTime: 1_500_000_000))
        let (expired, good) = (try site.grant(exp: 1_499_999), try site.grant(exp: 1_600_000))
        try await site.serve { port in
            #expect(await site.refusal(port, grant: expired) == .callTokenInvalid)
            #expect(await site.refusal(port, grant: good) == nil)
            // The hub says another time.
            site.link.trust(site.trust())
            #expect(await site.refusal(port, grant: expired) == nil)
            while try site.trustFile.read()?.hubTime != 1_000_000_000 { await Task.yield() }
        }
    }

    @Test("A device that its hub has removed is not reached any more, also not after a restart")
    func removed() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let grant = try site.grant()
        try await site.serve { port in
            try await site.connect(port, grant: grant) { connection in
                site.hub.removeDevice()
                while connection.isOpen { await Task.yield() }
            }
            #expect(await site.refusal(port, grant: grant) == .callTokenInvalid)
            while try site.trustFile.read() != nil { await Task.yield() }
        }
    }

    @Test("A connection ends when its grant expires")
    func expiry() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let grant = try site.grant(exp: 1_000_000)
        try await site.serve { port in
            try await site.connect(port, grant: grant) { connection in
                _ = try await connection.request("property.read", Self.read)
                site.hub.time.withLock { $0 = 1_000_001 }
                while connection.isOpen { await Task.yield() }
            }
        }
    }

    @Test("A call ends with its connection, also if it was still beginning then", arguments: [false, true])
    func lostConnection(isBeginning: Bool) async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let (begins, ended) = (Readiness<Void>(), Readiness<JSONValue>())
        let isLost = Mutex(false)
        site.link.handle("call.connect") { _ throws(IoTError) in
            begins.settle(.success(()))
            // Does not stop when it is cancelled.
            while isBeginning, !isLost.withLock({ $0 }) { await Task.yield() }
            return .null
        }
        site.link.handle("call.end") { request throws(IoTError) in
            // Until `call.connect` has been answered, the camera knows no such call.
            guard !isBeginning || isLost.withLock({ $0 }) else { throw IoTError(.callTargetNotFound) }
            ended.settle(.success(request.params))
            return .null
        }
        let grant = try site.grant()
        try await site.serve { port in
            try await site.connect(port, grant: grant) { connection in
                async let call = Result { try await connection.request("call.connect", ["session": "s"]) }
                try await begins.wait()
                if !isBeginning { _ = await call }
                connection.close(IoTError(.stopping))
                _ = await call
            }
            isLost.withLock { $0 = true }
            #expect(try await ended.wait()["session"] == "s")
        }
    }

    @Test("A refused beginning ends the connection, after its answer; a good one is noted")
    func refusedBeginning() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let grant = try site.grant()
        try await site.serve { port in
            try await site.connectWithoutGrant(port) { connection in
                let outcome = await Result { try await connection.request("property.read", Self.read) }
                #expect(outcome.failureCode == .callTokenRejected)
                while connection.isOpen { await Task.yield() }
            }
            #expect(site.begun.value == 0)
            #expect(await site.refusal(port, grant: grant) == nil)
            #expect(site.begun.value == 1)
        }
    }

    @Test("A withdrawal ends the user's connection and calls at once, and its grants for good")
    func withdrawal() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let ended = Readiness<JSONValue>()
        site.link.handle("call.connect") { _ throws(IoTError) in .null }
        site.link.handle("call.end") { request throws(IoTError) in
            ended.settle(.success(request.params))
            return .null
        }
        let grant = try site.grant()
        try await site.serve { port in
            let outcome = await Result {
                try await site.connect(port, grant: grant) { connection in
                    _ = try await connection.request("call.connect", ["session": "s"])
                    site.link.withdraw(RightsWithdrawn(until: 999_500, user: Principal("u/ann")!))
                    let params = try await ended.wait()
                    #expect(params["session"] == "s" && params["code"]?.integerValue == 20_014)
                    _ = try await connection.request("property.read", Self.read)
                }
            }
            #expect(outcome.failureCode == .linkUnavailable)
            #expect(await site.refusal(port, grant: grant) == .callTokenInvalid)
        }
    }

    @Test("What a device sends in a call goes to the gateway that called, and elsewhere to the hub")
    func calls() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        site.link.handle("call.connect") { [link = site.link] request throws(IoTError) in
            #expect(request.grant?.from == request.from)
            return try await link.request("call.invite", ["session": request.params["session"] ?? .null])
        }
        let grant = try site.grant()
        try await site.serve { port in
            try await site.connect(port, grant: grant, handler: { ["invited": $0.params["session"] ?? .null] }) {
                connection in
                let answer = try await connection.request("call.connect", ["session": "s"])
                #expect(answer == ["invited": "s"])
            }
            let elsewhere = await Result { try await site.link.request("call.invite", ["session": "s"]) }
            #expect(elsewhere.failureCode == .linkUnavailable, "the connection has ended")
        }
    }

    @Test("An account has four connections to a box, and sixteen calls over each; what ends gives its place back")
    func bounds() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        site.link.handle("call.connect") { _ throws(IoTError) in .null }
        site.link.handle("call.end") { _ throws(IoTError) in .null }
        let grant = try site.grant()
        try await site.serve { port in
            let (opened, open) = AsyncStream.makeStream(of: Void.self)
            let enough = Readiness<Void>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await site.connect(port, grant: grant) { _ in
                            open.yield()
                            try await enough.wait()
                        }
                    }
                }
                var count = 0
                for await _ in opened {
                    count += 1
                    if count == 4 { break }
                }
                #expect(await site.refusal(port, grant: grant) == .tooManyConnections)
                enough.settle(.success(()))
                try await group.waitForAll()
            }
            // The device notices the end of a connection a little later than the gateway.
            while await site.refusal(port, grant: grant) != nil { await Task.yield() }
            try await site.connect(port, grant: grant) { connection in
                for number in 0..<16 {
                    _ = try await connection.request("call.connect", ["session": .string("s\(number)")])
                }
                let outcome = await Result { try await connection.request("call.connect", ["session": "s16"]) }
                #expect(outcome.failureCode == .tooManyRequests)
                let twice = await Result { try await connection.request("call.connect", ["session": "s0"]) }
                #expect(twice.failureCode == .duplicateCall)
                _ = try await connection.request("call.end", ["session": "s0"])
                _ = try await connection.request("call.connect", ["session": "s0"])
            }
        }
    }

    @Test("A gateway that sends many requests at once, and reads late, gets every answer", arguments: [10, 100_000])
    func manyRequests(size: Int) async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let value = JSONValue.string(String(repeating: "a", count: size))
        site.link.handle("property.read") { _ throws(IoTError) in value }
        let grant = try site.grant()
        try await site.serve { port in
            try await site.client(port).executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                var frames = LANFrames(limit: Envelope.maximumSize)
                func codes(_ count: Int) async throws -> [ErrorCode] {
                    var codes: [ErrorCode] = []
                    while codes.count < count, let bytes = try await answers.next(isolation: #isolation) {
                        frames.append(bytes)
                        while let message = try frames.next() {
                            if case .reply(let reply) = try Envelope(parsing: message) { codes.append(reply.code) }
                        }
                    }
                    return codes
                }
                func request(_ number: Int, _ method: String, _ params: JSONValue) throws -> ByteBuffer {
                    let request = LinkRequest(id: "\(number)", method: method, params: params, t: 0, deadline: 60_000)
                    return LANFrames.frame(try Envelope.request(request).serialized())
                }
                try await outbound.write(try request(0, "lan.begin", ["grant": .string(grant)]))
                #expect(try await codes(1) == [.success])

                var requests = ByteBuffer()
                for number in 1...600 {
                    requests.writeImmutableBuffer(try request(number, "property.read", Self.read))
                }
                try await outbound.write(requests)
                // Another connection is served before the first answer is read.
                try await site.connect(port, grant: grant) { connection in
                    _ = try await connection.request("property.read", Self.read)
                }
                let codes = try await codes(600)
                #expect(codes.count == 600 && Set(codes) == [.success, .tooManyRequests])
            }
        }
    }

    @Test("Bytes of a stranger, without TLS or without a key, end the stranger's connection alone")
    func strangers() async throws {
        let site = try LANSite()
        site.link.trust(site.trust())
        let grant = try site.grant()
        try await site.serve { port in
            for bytes in [[UInt8]("GET / HTTP/1.1\r\n\r\n".utf8), [0x16, 3, 1, 0xFF, 0xFF], []] {
                let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connect(host: "127.0.0.1", port: port).get()
                try? await client.writeAndFlush(ByteBuffer(bytes: bytes))
                try? await client.close()
            }
            #expect(await site.refusal(port, grant: grant) == nil)
        }
    }
}

extension Result {
    fileprivate init(_ body: () async throws -> Success) async where Failure == any Error {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }

    fileprivate var failureCode: ErrorCode? {
        guard case .failure(let error) = self else { return nil }
        return (error as? IoTError)?.code
    }
}
