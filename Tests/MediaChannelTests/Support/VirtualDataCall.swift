import IoTCore
import IoTLink
import MediaTestSupport
import NIOCore
import NIOEmbedded
import RTP
import TestSupport
import Testing

@testable import MediaChannel
@testable import PeerTransport

/// A call that only exchanges data, in virtual time: the caller's `DataClient` and the camera's `CameraData`, with two
/// peer connections (DTLS, SCTP) over a seeded link. The handshake uses a link without loss (`VirtualChannel`).
final class VirtualDataCall {
    /// One side's connection.
    private final class Side: ControlTransport {
        let connection: PeerConnection
        private let loop: EmbeddedEventLoop

        init(_ connection: PeerConnection, _ loop: EmbeddedEventLoop) {
            self.connection = connection
            self.loop = loop
        }

        func openDataChannel(
            label: String, subprotocol: String, options: DataChannelOptions
        ) throws(IoTError) -> DataChannel {
            try connection.openDataChannel(label: label, subprotocol: subprotocol, options: options, at: loop.now)
        }

        func send(_ message: DataChannelMessage, on id: DataChannelID) throws(IoTError) {
            try connection.send(message, on: id, at: loop.now)
        }

        func bufferedAmount(of id: DataChannelID) -> Int { connection.bufferedAmount(of: id) }
        func closeDataChannel(_ id: DataChannelID) { connection.closeDataChannel(id, at: loop.now) }
    }

    let loop = EmbeddedEventLoop()
    let client: DataClient
    let camera: CameraData
    let server: DataServer
    private let sides: [Side]
    private let addresses: [SocketAddress]
    private var links: [VirtualLink<ByteBuffer>]
    private var now = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private var isConnected = [false, false]

    var lostDatagrams: Int { links[0].lostCount + links[1].lostCount }
    var elapsed: TimeAmount { now - start }
    private var start = NIODeadline.uptimeNanoseconds(0)

    init(_ link: VirtualLink<ByteBuffer>.Configuration) throws {
        addresses = try ["192.0.2.1", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 4000) }
        links = [VirtualLink(.init(delay: link.delay)), VirtualLink(.init(delay: link.delay))]
        loop.advanceTime(to: now)
        var connections: [PeerConnection] = []
        for (index, address) in addresses.enumerated() {
            var configuration = PeerConfiguration(hostAddresses: [address], isControlling: index == 0)
            configuration.dataChannels = .call
            connections.append(
                PeerConnection(
                    configuration: configuration, certificate: try .generate(), now: now,
                    generator: SeededGenerator(seed: link.seed ^ UInt64(index + 1))))
        }
        sides = connections.map { [loop] in Side($0, loop) }
        camera = CameraData(eventLoop: loop)
        let user = try #require(Principal("u/guest"))
        server = DataServer(
            DataCall(id: "s", user: user, kind: .transmission), of: camera, sides[0], on: loop)
        client = DataClient(eventLoop: loop)
        client.use(sides[1])
        let offer = try SessionDescription(parsing: connections[0].createOffer().text)
        let answer = try connections[1].createAnswer(to: offer) { _ in true }
        try connections[0].setAnswer(SessionDescription(parsing: answer.text))
        try run(until: { self.isConnected == [true, true] }, atMost: .seconds(10))
        for index in 0...1 {
            var configuration = link
            configuration.seed = link.seed &+ UInt64(index)
            links[index] = VirtualLink(configuration)
        }
        start = now
    }

    /// - Returns: whether the condition was met in time.
    @discardableResult
    func run(until isMet: () -> Bool, atMost limit: TimeAmount) throws -> Bool {
        let end = now + limit
        var steps = 0
        while now < end, !isMet() {
            var next = end
            for index in 0...1 { if let deadline = drain(index) { next = min(next, deadline) } }
            for link in links { if let arrival = link.nextArrival { next = min(next, arrival) } }
            now = min(max(now, next), now + .milliseconds(20))
            loop.advanceTime(to: now)
            steps += 1
            try #require(steps < 3_000_000)
            while let bytes = links[0].receive(at: now) {
                sides[1].connection.receive(bytes, from: addresses[0], at: now)
            }
            while let bytes = links[1].receive(at: now) {
                sides[0].connection.receive(bytes, from: addresses[1], at: now)
            }
            for side in sides { side.connection.handleTimeout(at: now) }
        }
        return isMet()
    }

    private func drain(_ index: Int) -> NIODeadline? {
        while let output = sides[index].connection.poll() {
            switch output {
            case .timeout(let deadline): return max(deadline, now + .microseconds(1))
            case .transmit(let bytes, _): links[index].send(bytes, size: bytes.readableBytes, at: now)
            case .event(.stateChanged(.connected)): isConnected[index] = true
            case .event(let event): if index == 0 { server.receive(event) } else { client.handle(event) }
            case .network: break
            }
        }
        return nil
    }

    /// The outcome of a future; runs until it is there.
    func outcome<Value: Sendable>(
        of future: EventLoopFuture<Value>, atMost limit: TimeAmount = .seconds(60)
    ) throws -> Result<Value, IoTError> {
        var outcome: Result<Value, any Error>?
        future.assumeIsolated().whenComplete { outcome = $0 }
        try run(until: { outcome != nil }, atMost: limit)
        return try #require(outcome).mapError { $0 as? IoTError ?? IoTError(.internalFailure, underlying: $0) }
    }

    /// The next elements of a queue that are there already.
    func taken<Element>(_ queue: DataQueue<Element>, atMost count: Int = .max) -> [Element] {
        var elements: [Element] = []
        while elements.count < count, queue.count > 0 {
            queue.next(within: nil).assumeIsolated().whenSuccess { next in
                if case .element(let element) = next { elements.append(element) }
            }
        }
        return elements
    }
}
