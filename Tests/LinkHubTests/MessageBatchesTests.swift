import Dispatch
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import Testing

@testable import LinkHub

@Suite("Messages to a session at the same time are joined", .timeLimit(.minutes(1)))
struct MessageBatchesTests {
    private let anna = LinkAddress.random(.user(AccessID(rawValue: "anna")!))
    private let ben = LinkAddress.random(.user(AccessID(rawValue: "ben")!))

    private func text(_ output: HubOutput) -> String {
        switch output {
        case .message(let address, let bytes): "\(address.principal.id) \(String(decoding: bytes, as: UTF8.self))"
        case .addCredential: "+"
        case .removeCredential: "-"
        }
    }

    private func join(_ outputs: [HubOutput]) -> [String] {
        MessageBatches.join(outputs) { $0 == anna }.map(text)
    }

    @Test("Only for sessions that read batches, each session's in order")
    func order() {
        #expect(
            join([
                .message(anna, Array("1".utf8)), .message(ben, Array("2".utf8)), .message(anna, Array("3".utf8)),
                .message(ben, Array("4".utf8)), .message(anna, Array("5".utf8)),
            ]) == ["anna [1,3,5]", "ben 2", "ben 4"])
        #expect(join([.message(anna, Array("1".utf8))]) == ["anna 1"])
        #expect(join([]) == [])
    }

    @Test("No message overtakes a change of credentials, or is overtaken by one")
    func credentials() {
        #expect(
            join([
                .message(anna, Array("1".utf8)), .message(anna, Array("2".utf8)), .removeCredential(tokenID: "t"),
                .message(anna, Array("3".utf8)), .message(anna, Array("4".utf8)),
            ]) == ["anna [1,2]", "-", "anna [3,4]"])
    }

    @Test("A batch has at most 32 envelopes")
    func count() {
        let sent = MessageBatches.join(Array(repeating: .message(anna, [UInt8(ascii: "1")]), count: 70)) { _ in true }
        let sizes = sent.map { if case .message(_, let bytes) = $0 { (bytes.count - 1) / 2 } else { 0 } }
        #expect(sizes == [32, 32, 6])
    }

    @Test("A batch stays within its size, and a larger message goes alone, in its place")
    func size() throws {
        let large = [UInt8](repeating: UInt8(ascii: "7"), count: EnvelopeBatch.maximumSize + 1)
        let third = [UInt8](repeating: UInt8(ascii: "8"), count: EnvelopeBatch.maximumSize / 3)
        let small = Array("9".utf8)
        let payloads = [small, large, small, third, third, third, small]
        let joined = MessageBatches.join(payloads.map { .message(anna, $0) }) { _ in true }
        let sent = joined.compactMap { if case .message(_, let bytes) = $0 { bytes } else { nil } }
        #expect(sent.filter { $0.first == UInt8(ascii: "[") }.allSatisfy { $0.count <= EnvelopeBatch.maximumSize })
        let digits = sent.joined().filter { !"[],".utf8.contains($0) }
        #expect(digits == Array(payloads.joined()))
        #expect(sent.contains(large))
        #expect(sent.count == 4)
    }

    @Test("Each answer arrives once, in few messages for a session that reads batches, one by one for others")
    func service() async throws {
        for readsBatches in [true, false] {
            let (sizes, writer) = AsyncStream.makeStream(of: Int.self)
            let answered = NIOLockedValueBox<[String]>([])
            let hub = try InProcessHub(directory: TemporaryDirectory()) { outputs in
                for case .message(_, let payload) in outputs {
                    let (envelopes, _) = EnvelopeBatch.parse(payload)
                    for case .reply(let reply) in envelopes { answered.withLockedValue { $0.append(reply.id) } }
                    writer.yield(envelopes.count)
                }
            }
            try await hub.service.perform { core, time throws(IoTError) in
                try core.addUser(AccessID(rawValue: "anna")!, at: time)
            }
            func ask(_ id: String, _ method: String, _ params: JSONValue = [:]) throws {
                let now = HubTime.now().wall
                let request = LinkRequest(id: id, method: method, params: params, t: now, deadline: now + 60_000)
                try hub.send(anna, .request(request))
            }
            try ask("begin", "session.begin", ["batches": .bool(readsBatches)])
            // The hub's thread waits until all requests are there.
            let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let pause: Void = hub.service.perform { _, _ throws(IoTError) in
                isHeld.signal()
                release.wait()
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    isHeld.wait()
                    continuation.resume()
                }
            }
            for number in 0..<100 { try ask("r\(number)", "device.list") }
            release.signal()
            try await pause
            var received: [Int] = []
            for await size in sizes {
                received.append(size)
                if received.reduce(0, +) == 101 { break }
            }
            #expect(answered.withLockedValue { $0 } == ["begin"] + (0..<100).map { "r\($0)" })
            #expect(readsBatches ? received.count < 10 : received.count == 101)
            await hub.stop()
        }
    }

    @Test("Each request of a session's batch is answered; what is malformed does not affect the others")
    func uplink() async throws {
        let (replies, writer) = AsyncStream.makeStream(of: LinkReply.self)
        let hub = try InProcessHub(directory: TemporaryDirectory()) { outputs in
            for case .message(_, let payload) in outputs {
                for case .reply(let reply) in EnvelopeBatch.parse(payload).envelopes { writer.yield(reply) }
            }
        }
        try await hub.service.perform { core, time throws(IoTError) in
            try core.addUser(AccessID(rawValue: "anna")!, at: time)
        }
        func bytes(_ id: String, _ method: String) throws -> [UInt8] {
            let now = HubTime.now().wall
            return try Envelope.request(
                LinkRequest(id: id, method: method, params: ["batches": true], t: now, deadline: now + 60_000)
            ).serialized()
        }
        func send(_ payload: [UInt8]) {
            hub.service.receive(UplinkMessage(address: anna, payload: payload))
        }
        send(try bytes("begin", "session.begin"))
        let requests = try (0..<30).map { try bytes("r\($0)", "device.list") }
        send(EnvelopeBatch.joined(requests[..<15] + [Array("{}".utf8)] + requests[15...]))
        var received: [LinkReply] = []
        for await reply in replies {
            received.append(reply)
            if received.count == 31 { break }
        }
        #expect(received.map(\.id) == ["begin"] + (0..<30).map { "r\($0)" })
        #expect(received.allSatisfy { $0.code == .success })
        #expect(received.first?.result["batches"] == true)
        await hub.stop()
    }
}
