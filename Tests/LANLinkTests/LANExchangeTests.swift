import IoTCore
import IoTLink
import LANLink
import NIOCore
import Testing

@Suite struct LANExchangeTests {
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test(
        "A request is answered once; who it says that it comes from does not count, and its times are only a duration")
    func request() throws {
        var (gateway, device) = (LANExchange(), LANExchange())
        let (id, message) = try gateway.ask("property.read", ["path": "x"], timeout: .seconds(3))
        guard case .asked(let request, let time) = try device.receive(message, at: now) else {
            Issue.record("no request")
            return
        }
        #expect(request.id == id && request.method == "property.read" && time == .seconds(3))
        let finished = device.finish(id, .success(["value": 1]))
        let answer = try #require(finished)
        let (first, second) = (try gateway.receive(answer, at: now), try gateway.receive(answer, at: now))
        #expect(first == .answered(id: id, LinkReply(id: id, result: ["value": 1])))
        #expect(second == .ignored)

        let forged = #"{"id":"a","method":"m","from":"u/owner","as":"u/owner","params":{},"t":0,"deadline":-5}"#
        guard case .asked(let other, let shortest) = try device.receive(Array(forged.utf8), at: now) else {
            Issue.record("no request")
            return
        }
        #expect(other.from == nil && other.actingAs == nil && shortest == .milliseconds(1))
    }

    @Test("More requests than the rate are refused, and anything but requests and answers ends the connection")
    func refusals() throws {
        var exchange = LANExchange()
        var refused = 0
        for number in 0..<200 {
            let text = #"{"id":"\#(number)","method":"m","t":0,"deadline":1000}"#
            switch try exchange.receive(Array(text.utf8), at: now) {
            case .asked(let request, _):
                _ = exchange.finish(request.id, .success(.null))
                exchange.answered()
            case .refused(let answer):
                refused += 1
                let reply = try Envelope(parsing: answer)
                guard case .reply(let reply) = reply else { continue }
                #expect(reply.code == .tooManyRequests)
            default: Issue.record("neither asked nor refused")
            }
        }
        #expect(refused == 200 - LANExchange.rate.burst)
        for text in [#"{"method":"push","params":{}}"#, "[]", "", "{", #"{"id":"1"}"#] {
            #expect(throws: IoTError.self) { try exchange.receive(Array(text.utf8), at: now) }
        }
    }

    @Test("Sixteen requests run, and a request counts until its answer has been sent")
    func running() throws {
        var exchange = LANExchange()
        func isRefused(_ id: String) throws -> Bool {
            guard
                case .refused = try exchange.receive(
                    Array(#"{"id":"\#(id)","method":"m","t":0,"deadline":1000}"#.utf8), at: now)
            else { return false }
            return true
        }
        for number in 0..<LANExchange.mostRunning { #expect(try !isRefused("\(number)")) }
        #expect(try isRefused("more"))
        _ = exchange.finish("0", .success(.null))
        #expect(try isRefused("more"))
        exchange.answered()
        #expect(try !isRefused("more"))
    }

    @Test("One side has at most 64 requests open")
    func bound() throws {
        var exchange = LANExchange()
        for _ in 0..<LANExchange.mostRequests { _ = try exchange.ask("m", .null, timeout: .seconds(1)) }
        #expect { try exchange.ask("m", .null, timeout: .seconds(1)) } throws: {
            ($0 as? IoTError)?.code == .tooManyRequests
        }
    }
}
