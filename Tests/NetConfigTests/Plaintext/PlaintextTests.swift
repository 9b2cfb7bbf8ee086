import IoTCore
import NIOCore
import Testing

@testable import NetConfig

/// The cores of the device and of the client, in virtual time.
@Suite struct PlaintextTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let joined = WiFiOutcome.connected(WiFiConnection(address: "192.0.2.9", ssid: Array("Home".utf8)))

    private func network(_ ssid: String = "Home", _ password: String = "correct horse") throws -> WiFiCredentials {
        try WiFiCredentials(ssid: ssid, password: password)
    }

    private func order(_ token: String = "token-7f3a") throws -> BindOrder {
        try BindOrder(hub: "iotlink://192.0.2.2:8883", token: token)
    }

    private func device(hub: String? = nil, binds: Bool = true) -> PlaintextDevice {
        PlaintextDevice(
            .init(
                identity: DeviceIdentity(id: "front"), productID: "iotvideod", hub: hub, lifetime: .minutes(10),
                binds: binds), at: start)
    }

    private func request(_ ssid: String = "Home", token: String = "token-7f3a") throws -> [UInt8] {
        PlaintextRequest(
            credentials: try network(ssid), token: token, region: token.isEmpty ? nil : "iotlink://192.0.2.2:8883"
        ).bytes
    }

    /// Sends the request; fails if the device does not answer.
    private func ask(
        _ device: inout PlaintextDevice, _ request: [UInt8], at seconds: Int64 = 0
    ) throws -> PlaintextReply {
        let answer = device.receive(request, isOnLink: true, at: start + .seconds(seconds))
        let reply = try #require(answer)
        #expect(reply.count <= request.count)
        return try #require(PlaintextReply(parsing: reply))
    }

    private let accepted = PlaintextReply.accepted(productID: "iotvideod", deviceName: "front")

    private func steps(_ device: inout PlaintextDevice) -> [String] {
        device.joining.takeSteps().compactMap { step in
            switch step {
            case .apply(let credentials): "apply \(credentials.ssid)"
            case .bind(let order): "bind \(order.hub) \(order.token)"
            case .timeout: nil
            case .end(let end): "end \(end)"
            }
        }
    }

    // MARK: The device

    @Test("The messages have the members of the scheme")
    func messages() throws {
        let bytes = try self.request()
        let value = try JSONValue(parsing: bytes)
        #expect(
            value == [
                "cmdType": 1, "ssid": "Home", "password": "correct horse", "token": "token-7f3a",
                "region": "iotlink://192.0.2.2:8883",
            ])
        let read = try PlaintextRequest(parsing: bytes)
        #expect(read.bytes == bytes)
        let reply = try #require(PlaintextReply.accepted(productID: "p", deviceName: "d").bytes(fitting: 200))
        #expect(
            try JSONValue(parsing: reply)
                == ["cmdType": 2, "productId": "p", "deviceName": "d", "protoVersion": "2.0"])
        let failure = try #require(PlaintextReply.currentError("why").bytes(fitting: 200))
        #expect(try JSONValue(parsing: failure) == ["cmdType": 2, "deviceReply": "Current_Error", "log": "why"])
        #expect(!"\(read)".contains("horse"))
    }

    @Test("The device joins, contacts the hub, gives repetitions the same answer, and ends when it is bound")
    func whole() throws {
        var device = device()
        for _ in 0..<4 {
            let reply = try ask(&device, try request())
            #expect(reply == accepted)
        }
        #expect(steps(&device) == ["apply Home"], "a repetition does nothing")
        device.joining.applied(joined, at: start)
        #expect(steps(&device) == ["bind iotlink://192.0.2.2:8883 token-7f3a"])
        _ = try ask(&device, try request())
        #expect(steps(&device) == [])
        device.joining.bound(.success(nil), at: start)
        _ = try ask(&device, try request())
        device.joining.timeout(at: start + .seconds(3))
        #expect(steps(&device) == ["end bound"])
        let late = device.receive(try request(), isOnLink: true, at: start)
        #expect(late == nil, "the mode has ended")
    }

    @Test("A bound device's mode ends when a client no longer repeats its request")
    func boundEnd() throws {
        var device = device()
        _ = try ask(&device, try request())
        device.joining.applied(joined, at: start)
        device.joining.bound(.success(nil), at: start)
        _ = steps(&device)
        device.joining.timeout(at: start + .seconds(10))
        #expect(steps(&device) == ["end bound"])
    }

    @Test("While the device joins, and after it has joined, it refuses another network")
    func other() throws {
        var device = device()
        _ = try ask(&device, try request())
        for _ in 0..<2 {
            guard case .currentError = try ask(&device, try request("Evil")) else { throw IoTError(.internalFailure) }
            #expect(steps(&device).filter { $0.contains("Evil") } == [])
            device.joining.applied(joined, at: start)
        }
    }

    @Test("After a failure another request is accepted at once, and the same request only after 15 s")
    func failures() throws {
        for (outcome, words) in [
            (WiFiOutcome.wrongPassword, "25066 wifiPasswordWrong"), (.networkNotFound, "25067 wifiNetworkNotFound"),
            (.failed("?"), "25068 wifiFailed"),
        ] {
            var device = device()
            _ = try ask(&device, try request())
            device.joining.applied(outcome, at: start)
            _ = steps(&device)
            let early = try ask(&device, try request(), at: 14)
            #expect(early == .currentError(words))
            #expect(steps(&device) == [])
            var again = device
            let later = try ask(&again, try request(), at: 15)
            #expect(later == .previousError(words))
            #expect(steps(&again) == ["apply Home"])
            let other = try ask(&device, try request("Shed"), at: 1)
            #expect(other == .previousError(words))
            #expect(steps(&device) == ["apply Shed"])
            let taken = try ask(&device, try request("Shed"), at: 3)
            #expect(taken == accepted)
        }
    }

    @Test("If the hub refuses the token, the answer has the error number, and a new token is accepted")
    func binding() throws {
        var device = device()
        _ = try ask(&device, try request())
        device.joining.applied(joined, at: start)
        device.joining.bound(.failure(IoTError(.provisioningTokenExpired)), at: start)
        _ = steps(&device)
        let refused = try ask(&device, try request())
        #expect(refused == .currentError("21101 provisioningTokenExpired"))
        #expect(steps(&device) == [])
        _ = try ask(&device, try request(token: "token-new"))
        #expect(steps(&device) == ["bind iotlink://192.0.2.2:8883 token-new"])
    }

    @Test("The token of a failed attempt is not used for a request without a token")
    func staleToken() throws {
        var device = device()
        _ = try ask(&device, try request("Stranger", token: "stranger"))
        device.joining.applied(.wrongPassword, at: start)
        _ = try ask(&device, try request(token: ""), at: 1)
        device.joining.applied(joined, at: start)
        #expect(steps(&device) == ["apply Stranger", "apply Home"])
    }

    @Test("A hub that the device cannot use is refused before the device joins the network")
    func unusableHub() throws {
        var device = PlaintextDevice(
            .init(
                identity: DeviceIdentity(id: "front"), productID: "iotvideod", hub: nil, lifetime: .minutes(10),
                binds: true, check: { _ throws(IoTError) in throw IoTError(.provisioningTokenFailed) }),
            at: start)
        guard case .currentError(let log) = try ask(&device, try request()) else { throw IoTError(.internalFailure) }
        #expect(log.hasPrefix("21100 "))
        #expect(steps(&device) == [])
    }

    @Test("After a request without a token, the token can follow")
    func laterToken() throws {
        var device = device()
        _ = try ask(&device, try request(token: ""))
        device.joining.applied(joined, at: start)
        let reply = try ask(&device, try request(), at: 50)
        #expect(reply == accepted)
        let other = try ask(&device, try request("Shed"), at: 51)
        #expect(other == .currentError("the device is already in a network"))
        #expect(steps(&device) == ["apply Home", "bind iotlink://192.0.2.2:8883 token-7f3a"])
    }

    @Test("A token without a known hub is refused; without a binder the token is ignored")
    func tokens() throws {
        let foreign = PlaintextRequest(credentials: try network(), token: "token-7f3a", region: "china").bytes
        var lost = device()
        guard case .currentError = try ask(&lost, foreign) else { throw IoTError(.internalFailure) }
        #expect(steps(&lost) == [])
        var known = device(hub: "iotlink://192.0.2.3:1")
        _ = try ask(&known, foreign)
        known.joining.applied(joined, at: start)
        #expect(steps(&known) == ["apply Home", "bind iotlink://192.0.2.3:1 token-7f3a"])
        var unbinding = device(binds: false)
        _ = try ask(&unbinding, try request())
        unbinding.joining.applied(joined, at: start)
        unbinding.joining.timeout(at: start + .seconds(60))
        #expect(steps(&unbinding) == ["apply Home", "end connected"])
    }

    @Test("Nothing off the link is answered, and no answer is longer than its request")
    func strangers() throws {
        var device = device()
        let foreign = device.receive(try request(), isOnLink: false, at: start)
        #expect(foreign == nil)
        let noise: [String] = [
            "", "{}", "[]", #"{"cmdType":1}"#, #"{"cmdType":2,"ssid":"a","password":"","token":""}"#,
            #"{"cmdType":1,"ssid":"","password":"","token":""}"#,
            #"{"cmdType":1,"ssid":"Home","password":"short","token":""}"#,
            #"{"cmdType":1,"ssid":"Home","password":"correct horse","token":"t","region":7}"#,
            String(repeating: "[", count: 1_000), String(repeating: " ", count: 1_401),
        ]
        for (second, text) in noise.enumerated() {
            let reply = device.receive(Array(text.utf8), isOnLink: true, at: start + .seconds(Int64(second)))
            #expect((reply?.count ?? 0) <= text.utf8.count, "\(text.prefix(60))")
            #expect(reply.map { String(decoding: $0, as: UTF8.self).contains("short") } != true)
        }
        #expect(steps(&device) == [])
        for name in ["a", "Home", String(repeating: "n", count: 32)] {
            let request = PlaintextRequest(credentials: try network(name, ""), token: "").bytes
            var fresh = self.device()
            _ = try ask(&fresh, request)
        }
    }

    @Test("At most 16 answers per second, for all clients together")
    func flood() throws {
        var device = device()
        let request = try self.request()
        var answers = 0
        for _ in 0..<100 where device.receive(request, isOnLink: true, at: start) != nil { answers += 1 }
        #expect(answers == PlaintextDevice.repliesPerSecond)
        _ = try ask(&device, request, at: 1)
    }

    @Test("Without a request the mode ends after its lifetime")
    func end() {
        var device = device()
        device.joining.timeout(at: start + .minutes(10))
        #expect(steps(&device) == ["end timedOut"])
    }

    // MARK: The client

    private struct Run {
        var sent: [Int64] = []
        var result: Result<ProvisioningOutcome, IoTError>?
        var progress: [ProvisioningProgress] = []
    }

    /// - Parameter answers: the datagrams that arrive, by second.
    private func run(_ answers: [Int64: [UInt8]] = [:], binds: Bool = true) throws -> Run {
        var client = PlaintextClient(try network(), bind: binds ? try order() : nil)
        var run = Run()
        client.start(at: start)
        for second in 0..<60 as Range<Int64> {
            let now = start + .seconds(second)
            client.timeout(at: now)
            if let answer = answers[second] { client.receive(answer, at: now) }
            while let output = client.poll() {
                switch output {
                case .send: run.sent.append(second)
                case .timeout: break
                case .progress(let progress): run.progress.append(progress)
                case .finished(let result): run.result = result
                }
            }
            if run.result != nil { break }
        }
        return run
    }

    private func bytes(_ reply: PlaintextReply) throws -> [UInt8] { try #require(reply.bytes(fitting: 400)) }

    @Test("The client sends every 2 s, at most 5 times, and then fails with 25060")
    func silence() throws {
        let run = try self.run()
        #expect(run.sent == [0, 2, 4, 6, 8])
        guard case .failure(let error)? = run.result else { throw IoTError(.internalFailure) }
        #expect(error.code == .provisioningUnreachable)
    }

    @Test("The client ends at the device's answer, and ignores other datagrams")
    func answered() throws {
        let run = try self.run([1: Array("{}".utf8), 3: try bytes(.accepted(productID: "p", deviceName: "front"))])
        #expect(run.sent == [0, 2])
        let outcome = try #require(try run.result?.get())
        #expect(outcome.device?.id == "front" && outcome.bind == .waiting && outcome.connection == nil)
    }

    @Test("Known errors keep their number, others their text, and no error contains a secret")
    func errors() throws {
        let ours = try run([1: try bytes(.currentError("25066 wifiPasswordWrong"))])
        guard case .failure(let wrong)? = ours.result else { throw IoTError(.internalFailure) }
        #expect(wrong.code == .wifiPasswordWrong)
        let other = try run([1: try bytes(.currentError("no route\u{1B}[2J"))])
        guard case .failure(let refused)? = other.result else { throw IoTError(.internalFailure) }
        #expect(refused.code == .provisioningRefused && refused.message.contains("no route"))
        #expect(!refused.message.contains("\u{1B}"))
        let echo = try run([1: try bytes(.currentError("password correct horse is wrong"))])
        guard case .failure(let echoed)? = echo.result else { throw IoTError(.internalFailure) }
        #expect(!echoed.description.contains("horse"))
    }

    @Test("A report of the previous attempt is progress; no answer after it is 25064")
    func previous() throws {
        let run = try self.run([1: try bytes(.previousError("25067 wifiNetworkNotFound"))])
        #expect(run.progress.count == 1 && run.sent.count == 5)
        guard case .failure(let error)? = run.result else { throw IoTError(.internalFailure) }
        #expect(error.code == .provisioningVanished)
    }
}
