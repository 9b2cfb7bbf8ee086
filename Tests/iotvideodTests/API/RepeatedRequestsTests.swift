import GatewayAPI
import Hummingbird
import HummingbirdCore
import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import Gateway
@testable import iotvideod

@Suite struct RepeatedRequestsTests {
    private static let camera = #"{"name":"front","url":"/srv/clip.mp4"}"#

    private static func keyed(_ key: String) -> [String: String] {
        ["Host": "127.0.0.1", "Idempotency-Key": key]
    }

    @Test("A camera and a call are created once for one key")
    func once() async throws {
        let fixture = RouterFixture()
        for (path, body, type) in [
            ("/v1/cameras", Self.camera, "application/json"),
            ("/v1/devices/front/whep", "v=0\r\n", "application/sdp"),
        ] {
            let before = fixture.gateway.calls.count
            let key = Self.keyed("key-\(before)")
            let first = try await fixture.ask(
                "POST", path, token: RouterFixture.administrator, body: body, type: type, headers: key)
            #expect(first.status == 201, "\(path): \(first.body)")
            let second = try await fixture.ask(
                "POST", path, token: RouterFixture.administrator, body: body, type: type, headers: key)
            #expect(second.status == 201 && second.body == first.body)
            #expect(second.headers[.location] == first.headers[.location])
            #expect(fixture.gateway.calls.count == before + 1, "\(path) was executed once")
            _ = try await fixture.ask(
                "POST", path, token: RouterFixture.administrator, body: body, type: type,
                headers: Self.keyed("other-\(before)"))
            #expect(fixture.gateway.calls.count == before + 2, "another key creates another one")
        }
    }

    @Test("A key that was used for a different request is refused")
    func reused() async throws {
        let fixture = RouterFixture()
        let key = Self.keyed("one")
        _ = try await fixture.ask(
            "POST", "/v1/cameras", token: RouterFixture.administrator, body: Self.camera, headers: key)
        let other = Self.camera.replacing("front", with: "back")
        let answer = try await fixture.ask(
            "POST", "/v1/cameras", token: RouterFixture.administrator, body: other, headers: key)
        #expect(answer.code == ErrorCode.requestIDReused.rawValue)
        let damaged = try await fixture.ask(
            "POST", "/v1/cameras", token: RouterFixture.administrator, body: Self.camera, headers: Self.keyed("a b"))
        #expect(damaged.status == 400)
    }

    // MARK: Without a router

    private let caller: Caller

    init() throws {
        caller = try #require(RouterFixture.caller(of: RouterFixture.administrator))
    }

    private func request(_ body: String) -> Request {
        Request(
            head: HTTPRequest(method: .post, scheme: "http", authority: "h", path: "/v1/cameras"),
            body: RequestBody(buffer: ByteBuffer(string: body)))
    }

    private func key(_ text: String) -> RepeatedRequests.Key { RepeatedRequests.Key(caller, text) }

    @Test("Concurrent requests with one key are executed once, even if that takes long")
    func together() async throws {
        let repeated = RepeatedRequests()
        let made = Mutex(0)
        let started = Readiness<Void>()
        let go = Readiness<Void>()
        let (key, request) = (key("k"), request("body"))
        let ask = { @Sendable in
            let response = try await repeated.answer(key, to: request) { _ in
                made.withLock { $0 += 1 }
                started.settle(.success(()))
                try await go.wait()
                return Response(status: .created)
            }
            return response.status
        }
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<10 { group.addTask { try await ask() } }
            try await started.wait()
            go.settle(.success(()))
            for try await status in group { #expect(status == .created) }
        }
        #expect(made.withLock { $0 } == 1)
    }

    @Test("A failed request is executed again")
    func failed() async throws {
        let repeated = RepeatedRequests()
        let error = await #expect(throws: IoTError.self) {
            try await repeated.answer(key("k"), to: request("b")) { _ in throw IoTError(.notFound) }
        }
        #expect(error?.code == .notFound)
        let answer = try await repeated.answer(key("k"), to: request("b")) { _ in Response(status: .created) }
        #expect(answer.status == .created)
    }

    @Test("A response is remembered for ten minutes, and other tokens of the account do not get it")
    func memory() async throws {
        let clock = Mutex(NIODeadline.uptimeNanoseconds(0))
        let repeated = RepeatedRequests(now: { clock.withLock { $0 } })
        let made = Mutex(0)
        func ask(_ caller: Caller) async throws {
            _ = try await repeated.answer(RepeatedRequests.Key(caller, "k"), to: request("b")) { _ in
                made.withLock { $0 += 1 }
                return Response(status: .created)
            }
        }
        try await ask(caller)
        clock.withLock { $0 = $0 + .seconds(599) }
        try await ask(caller)
        #expect(made.withLock { $0 } == 1)
        try await ask(try #require(RouterFixture.caller(of: RouterFixture.limitedAdministrator)))
        #expect(made.withLock { $0 } == 2)
        clock.withLock { $0 = $0 + .seconds(1) }
        try await ask(caller)
        #expect(made.withLock { $0 } == 3)
    }

    @Test("A client that uses many keys loses only its own oldest responses")
    func bound() async throws {
        let repeated = RepeatedRequests()
        let made = Mutex<[String]>([])
        func ask(_ caller: Caller, _ name: String) async throws {
            _ = try await repeated.answer(RepeatedRequests.Key(caller, name), to: request("b")) { _ in
                made.withLock { $0.append(name) }
                return Response(status: .created)
            }
        }
        let other = try #require(RouterFixture.caller(of: RouterFixture.member))
        try await ask(other, "other")
        for number in 0...RepeatedRequests.bound.each { try await ask(caller, "\(number)") }
        made.withLock { $0 = [] }
        try await ask(other, "other")
        try await ask(caller, "1")
        #expect(made.withLock { $0 }.isEmpty)
        try await ask(caller, "0")
        #expect(made.withLock { $0 } == ["0"], "the oldest was dropped")
    }
}
