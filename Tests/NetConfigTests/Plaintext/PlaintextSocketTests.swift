import IoTCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import NetConfig

/// Our client and our device on real sockets.
@Suite struct PlaintextSocketTests {
    private struct Outcome {
        var client: Result<ProvisioningOutcome, IoTError>
        var orders: [BindOrder]
        var given: [WiFiCredentials]
        var log: String
    }

    private func run() async throws -> Outcome {
        let log = LogText()
        let orders = NIOLockedValueBox<[BindOrder]>([])
        let given = NIOLockedValueBox<[WiFiCredentials]>([])
        let applier = DryRunApplier { credentials in
            given.withLockedValue { $0.append(credentials) }
            return .connected(WiFiConnection(ssid: Array(credentials.ssid.utf8)))
        }
        let mode = PlaintextProvisioning(
            .init(
                host: "127.0.0.1", port: 0, identity: DeviceIdentity(id: "front"), lifetime: .seconds(60)),
            applier: applier,
            binder: { order in
                orders.withLockedValue { $0.append(order) }
                return nil
            },
            logger: Logger(label: "test") { _ in LogTextHandler(text: log) })
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let network = try WiFiCredentials(ssid: "Home", password: "correct horse")
        let order = try BindOrder(hub: "iotlink://192.0.2.2:8883", token: "token-7f3a")
        return try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
            group.addTask { try? await mode.run { port.yield($0) } }
            var numbers = ports.makeAsyncIterator()
            let number = try #require(await numbers.next())
            let client: Result<ProvisioningOutcome, IoTError>
            do throws(IoTError) {
                client = .success(
                    try await PlaintextProvisioner(host: "127.0.0.1", port: number, network: network, bind: order).run()
                )
            } catch {
                client = .failure(error)
            }
            // The mode continues for 60 s after the binding, for a client that repeats its request.
            while (try? client.get()) != nil, orders.withLockedValue({ $0.isEmpty }) { await Task.yield() }
            group.cancelAll()
            return Outcome(
                client: client, orders: orders.withLockedValue { $0 },
                given: given.withLockedValue { $0 }, log: log.text)
        }
    }

    @Test("The device gets the network and the token, which no log contains, and logs a warning")
    func everything() async throws {
        let run = try await run()
        #expect(try run.client.get().device?.id == "front")
        #expect(run.given.map(\.password) == ["correct horse"])
        #expect(run.orders.map(\.token) == ["token-7f3a"])
        #expect(run.log.contains("plaintext provisioning is on"))
        for secret in ["correct horse", "token-7f3a", "Home"] { #expect(!run.log.contains(secret)) }
    }

    @Test("Only addresses on the links of the machine's interfaces are answered")
    func offLink() async throws {
        let request = PlaintextRequest(credentials: try WiFiCredentials(ssid: "Home", password: "")).bytes
        let loopback = try #require(LANInterface.loopback())
        for (source, interfaces, isAnswered) in [
            ("127.0.0.1", [loopback], true), ("203.0.113.5", [loopback], false), ("127.0.0.1", [], false),
        ] {
            let (steps, continuation) = AsyncStream.makeStream(of: DeviceJoining.Step.self)
            let mode = PlaintextMode(
                PlaintextDevice(
                    .init(
                        identity: DeviceIdentity(id: "front"), productID: "p", hub: nil, lifetime: .minutes(1),
                        binds: false), at: .now()),
                interfaces: { interfaces }, steps: continuation)
            let reply = await mode.receive(request, from: try #require(IPAddress(source)))
            #expect((reply != nil) == isAnswered, "\(source)")
            continuation.finish()
            var isApplied = false
            for await case .apply in steps { isApplied = true }
            #expect(isApplied == isAnswered)
        }
    }

    @Test("An answer that the system refuses does not close the socket")
    func refusedAnswer() async throws {
        let (received, arrivals) = AsyncStream.makeStream(of: [UInt8].self)
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramReader { arrivals.yield($0) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        // EINVAL, to which an answer to the source port 0 would lead.
        channel.sendDatagram([1], to: try SocketAddress(ipAddress: "127.0.0.1", port: 0))
        channel.sendDatagram([2], to: try #require(channel.localAddress))
        // Without the socket, the stream would end here.
        channel.closeFuture.whenComplete { _ in arrivals.finish() }
        var iterator = received.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first == [2])
        try await channel.close().get()
    }

    @Test("A socket without an address of the device is an error")
    func noAddress() async throws {
        // A connected socket has no remote address if the port is 0.
        let network = try WiFiCredentials(ssid: "Home", password: "correct horse")
        let error = await #expect(throws: IoTError.self) {
            try await PlaintextProvisioner(host: "127.0.0.1", port: 0, network: network).run()
        }
        #expect(error?.code == .provisioningUnreachable)
    }
}
