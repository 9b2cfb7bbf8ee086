import Foundation
import IoTCore
import Logging
import NIOCore
import Synchronization
import Testing

@testable import IoTLink

@Suite("Renewing tokens over a real broker", .timeLimit(.minutes(2)))
struct TokenRenewalSessionTests {
    private static let logger = {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }()

    @Test("A token of 6 s in a file is renewed repeatedly under load, and no request or push is lost or duplicated")
    func renews() async throws {
        // A third to a half of each token's lifetime has passed when it is issued, so that it is due 1 to 2 s later.
        let start = WallClock.milliseconds() / 1_000
        let tokens = (0..<12).map { TestToken("t\($0)", life: start + Int64($0) - 3..<start + Int64($0) + 3) }
        let hubToken = TestToken("hub")
        let broker = try Broker(tokens: tokens + [hubToken])
        try await broker.start()
        let file = broker.directory.appendingPathComponent("token").path
        try LinkToken.write(tokens[0].text, toFile: file)

        let given = Mutex(0)
        let executed = Mutex<[String]>([])
        // A fast machine sends more requests than `arrivals` holds.
        let hub = WireHub(
            endpoint: broker.endpoint, token: hubToken, unread: ["test.ask"]
        ) { address, request in
            if request.method == TokenMethod.renew.name {
                let number = given.withLock { given in
                    // A token that begins in the future would be renewed at once.
                    let now = Int(WallClock.milliseconds() / 1_000 - start)
                    given = min(max(given + 1, now), tokens.count - 1)
                    return given
                }
                return [LinkReply(id: request.id, result: ["token": .string(tokens[number].text)])]
            }
            if request.method == "test.ask" { executed.withLock { $0.append(request.id) } }
            return WireHub.accept(address, request)
        }
        try await hub.start()
        let renewed = Mutex<[String]>([])
        let principal = Principal.user(AccessID(rawValue: "owner")!)
        var configuration = LinkConfiguration(
            principal: principal, token: .file(path: file), endpoint: broker.endpoint)
        // The pushes are read only at the end.
        configuration.limits.waitingPushes = 1_000_000
        configuration.onTokenRenewed = { token in renewed.withLock { $0.append(token) } }
        let session = LinkSession(configuration: configuration, logger: Self.logger)
        let statuses = session.statusChanges()
        let pushes = session.pushes()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await session.run() }
            defer { group.cancelAll() }
            for await change in statuses where change.status == .online { break }
            let begin = try await hub.next(method: SessionMethod.begin.name)
            // Sends overlapping requests and pushes until three renewals are done.
            var asked: [String] = []
            var pushed: [Int64] = []
            let deadline = NIODeadline.now() + .seconds(30)
            while session.counters.handovers < 3, NIODeadline.now() < deadline {
                try await withThrowingTaskGroup(of: Void.self) { requests in
                    for _ in 0..<8 {
                        let id = "r\(asked.count)"
                        asked.append(id)
                        requests.addTask {
                            _ = try await session.request("test.ask", [:], timeout: .seconds(10), id: id)
                        }
                        pushed.append(Int64(pushed.count))
                        let push = LinkPush(method: "test.push", params: ["n": .integer(Int64(pushed.count - 1))])
                        try hub.send(.push(push), to: begin.address)
                    }
                    try await requests.waitForAll()
                }
            }
            #expect(session.counters.handovers >= 3)
            #expect(session.counters.failedHandovers == 0)
            #expect(session.counters.onlineCount == 1)
            #expect(session.counters.resentRequests == 0)
            #expect(session.current.status == .online)
            // Simultaneous requests have no defined order.
            #expect(Set(executed.withLock { $0 }) == Set(asked))
            #expect(executed.withLock { $0.count } == asked.count)
            try hub.send(.push(LinkPush(method: "test.last")), to: begin.address)
            var received: [Int64] = []
            for await push in pushes {
                guard push.method != "test.last" else { break }
                received.append(push.params["n"]?.integerValue ?? -1)
            }
            #expect(received == pushed)
            // The file holds the newest token, and only its owner may read it.
            let newest = renewed.withLock { $0.last }
            #expect(try LinkToken.file(path: file).read() == newest)
        }
        // The one session ends once. The broker has the push, but the hub may not have read it yet.
        var ends = 0
        for await arrival in hub.arrivals where arrival.envelope.method == SessionMethod.end.name {
            ends += 1
            hub.stop()
        }
        #expect(ends == 1)
    }
}
