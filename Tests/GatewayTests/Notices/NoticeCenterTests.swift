import Foundation
import GatewayAPI
import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(1))) struct NoticeCenterTests {
    /// Fails as it is told, and records each attempt.
    private final class Script: NoticeSender {
        private struct State {
            var failures: [NoticeFailure] = []
            var attempts: [OfflineNotice] = []
            var isPrivate: [Bool] = []
        }

        private let state = Mutex(State())
        let signal: AsyncStream<Void>
        private let source: AsyncStream<Void>.Continuation

        init(_ failures: [NoticeFailure] = []) {
            (signal, source) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .unbounded)
            state.withLock { $0.failures = failures }
        }

        var attempts: [OfflineNotice] { state.withLock { $0.attempts } }
        var isPrivate: [Bool] { state.withLock { $0.isPrivate } }

        func send(_ notice: OfflineNotice, to url: ServiceURL, allowsPrivate: Bool) async throws(NoticeFailure) {
            let failure = state.withLock { state in
                state.attempts.append(notice)
                state.isPrivate.append(allowsPrivate)
                return state.failures.isEmpty ? nil : state.failures.removeFirst()
            }
            source.yield()
            if let failure { throw failure }
        }

        /// Waits for so many attempts in total.
        func attempted(_ count: Int) async {
            if attempts.count >= count { return }
            for await _ in signal where attempts.count >= count { return }
        }
    }

    private final class Pauses: Sendable {
        let list = Mutex<[Duration]>([])
    }

    private let bob = AccessID(rawValue: "bob")!
    private let eve = AccessID(rawValue: "eve")!
    private static let unreachable = NoticeFailure(IoTError(.sourceUnreachable), isFinal: false)
    private static let refused = NoticeFailure(IoTError(.forbidden), isFinal: true)

    private func receiver(_ account: AccessID, allowsPrivate: Bool = false) throws -> NoticeReceiver {
        try NoticeReceiver(account: account, url: "https://receiver.example/a?b", allowsPrivate: allowsPrivate)
    }

    /// Runs the center with a feed while `body` runs.
    private func running(
        _ script: Script, _ pauses: Pauses = Pauses(), receivers: [NoticeReceiver],
        name: @escaping @Sendable (AccessID, String) async -> String? = { _, _ in "front" },
        _ body: (NoticeCenter, EventFeed) async throws -> Void
    ) async throws {
        let center = NoticeCenter(path: nil, receivers: receivers, sender: script) { pause in
            pauses.list.withLock { $0.append(pause) }
        }
        let feed = EventFeed()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await center.run(feed, after: 0, name: name) }
            try await body(center, feed)
            feed.finish()
            try await group.waitForAll()
        }
    }

    private func publish(_ feed: EventFeed, online: Bool) {
        feed.publish(.presence(DevicePresence(device: "d", online: online)), to: .viewers(device: "d"))
    }

    @Test("Each account that wants notices about the device gets one, with its own rights; others get none")
    func accounts() async throws {
        let script = Script()
        try await running(
            script, receivers: [try receiver(bob, allowsPrivate: true), try receiver(eve)],
            name: { account, device in account.rawValue == "bob" ? "front of \(device)" : nil }
        ) { center, feed in
            // Only what is for the device's viewers.
            feed.publish(.presence(DevicePresence(device: "d", online: true)), to: .account(bob))
            publish(feed, online: false)
            await script.attempted(1)
        }
        let notice = try #require(script.attempts.first)
        #expect(notice.event == .offline && notice.device == "d" && notice.name == "front of d")
        #expect(notice.account == "bob" && script.isPrivate == [true] && script.attempts.count == 1)
    }

    @Test("A failed notice is tried three times, with the pauses; a final refusal once")
    func attempts() async throws {
        let rows: [([NoticeFailure], [Duration], Int)] = [
            (Array(repeating: Self.unreachable, count: 3), NoticeCenter.pauses, 1),
            (Array(repeating: Self.unreachable, count: 2), NoticeCenter.pauses, 0), ([Self.refused], [], 1),
        ]
        for (failures, expected, failed) in rows {
            let pauses = Pauses()
            let script = Script(failures)
            try await running(script, pauses, receivers: [try receiver(bob)]) { center, feed in
                publish(feed, online: false)
                while true {
                    let now = try #require(await center.description(of: bob))
                    if now.sent + now.failed == 1 {
                        #expect(now.failed == failed && (now.failure != nil) == (failed == 1))
                        break
                    }
                    await Task.yield()
                }
            }
            #expect(pauses.list.withLock { $0 } == expected)
            #expect(script.attempts.count == min(3, expected.count + 1))
        }
    }

    @Test("The webhooks are stored in a private file; a new one begins with new numbers; the number is bounded")
    func file() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let center = try NoticeCenter(path: path, sender: Script())
        try await center.set(try receiver(bob, allowsPrivate: true))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try NoticeReceiver.load(path) == [try receiver(bob, allowsPrivate: true)])
        for number in 1..<NoticeCenter.maximum {
            try await center.set(try receiver(try #require(AccessID(rawValue: "a\(number)"))))
        }
        let error = await #expect(throws: IoTError.self) { try await center.set(try receiver(eve)) }
        #expect(error?.code == .tooManyRequests)
        try await center.set(try receiver(bob))
        try await center.remove(bob)
        #expect(await center.description(of: bob) == nil)
        #expect(try NoticeReceiver.load(path).count == NoticeCenter.maximum - 1)
        try "[{}]".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: IoTError.self) { try NoticeReceiver.load(path) }
    }

    @Test(
        "A URL that is not one of http, or with a login, is refused",
        arguments: ["ftp://a/", "rtsp://a/", "a", "", "http://", "http://u:p@a/", "https://a:99999/", "http:// a/"])
    func urls(url: String) {
        let error = #expect(throws: IoTError.self) { try NoticeReceiver(account: bob, url: url, allowsPrivate: true) }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A temporary account has no webhook: they could take the places of all others")
    func temporary() async throws {
        try await withGateway(ScriptedLink { _ throws(IoTError) in [:] }) { gateway in
            let error = await #expect(throws: IoTError.self) {
                try await gateway.session(of: "temporary-a").notices.set(NoticeRequest(url: "https://a.example/"))
            }
            #expect(error?.code == .operationNotAllowed)
        }
    }

    @Test("`almEvtPushEna` 0, and a model without it, switch notices off")
    func switchedOff() {
        func model(_ value: JSONValue?) -> JSONValue {
            ["ProUser": ["_buildIn": ["val": value.map { ["almEvtPushEna": $0] } ?? [:]]]]
        }
        #expect(LocalGateway.wantsNotices(model(1)) && LocalGateway.wantsNotices(model(-1)))
        #expect(!LocalGateway.wantsNotices(model(0)) && !LocalGateway.wantsNotices(model(nil)))
        #expect(!LocalGateway.wantsNotices([:]))
    }
}
