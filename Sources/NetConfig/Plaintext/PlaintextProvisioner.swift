public import IoTCore
import NIOCore
import NIOPosix

/// Sets a device's network by the plaintext scheme, for devices that support nothing better. Anyone nearby can read the
/// Wi-Fi password and the token.
public struct PlaintextProvisioner: Sendable {
    public static let port = 8266

    private let host: String
    private let port: Int
    private let network: WiFiCredentials
    private let order: BindOrder?

    /// - Parameter host: the device's address in its own network.
    public init(host: String, port: Int = port, network: WiFiCredentials, bind order: BindOrder? = nil) {
        self.host = host
        self.port = port
        self.network = network
        self.order = order
    }

    /// Returns when the device has accepted the network. The scheme does not report whether the device then joins it.
    ///
    /// - Throws: a failure of `ErrorCatalogue.provisioning`.
    public func run(
        _ report: @Sendable (ProvisioningProgress) -> Void = { _ in }
    ) async throws(IoTError) -> ProvisioningOutcome {
        do {
            return try await exchange(report)
        } catch let error as IoTError {
            throw error
        } catch is CancellationError {
            throw IoTError(.operationTimeout, "it was interrupted")
        } catch {
            throw IoTError(.provisioningUnreachable, "no datagram can be sent to \(host)", underlying: error)
        }
    }

    private enum Input: Sendable {
        case received([UInt8])
        case due
    }

    private func exchange(_ report: @Sendable (ProvisioningProgress) -> Void) async throws -> ProvisioningOutcome {
        let (inputs, arrivals) = AsyncStream.makeStream(of: Input.self, bufferingPolicy: .bufferingOldest(16))
        // A connected socket receives datagrams only from the device's address.
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramReader { arrivals.yield(.received($0)) })
                }
            }
            .connect(host: host, port: port).get()
        defer { channel.close(promise: nil) }
        // A channel that has ended after an error has no address; the device then counts as silent.
        guard let device = channel.remoteAddress else { throw ChannelError.ioOnClosedChannel }
        var client = PlaintextClient(network, bind: order)
        client.start(at: .now())
        var iterator = inputs.makeAsyncIterator()
        while true {
            while let output = client.poll() {
                switch output {
                // An error counts as a lost datagram: the device may not listen yet.
                case .send(let bytes): channel.sendDatagram(bytes, to: device)
                case .timeout(let due):
                    _ = channel.eventLoop.scheduleTask(deadline: due) { arrivals.yield(.due) }
                case .progress(let progress): report(progress)
                case .finished(let result): return try result.get()
                }
            }
            switch await iterator.next() {
            case .received(let bytes)?: client.receive(bytes, at: .now())
            case .due?: client.timeout(at: .now())
            case nil: throw CancellationError()
            }
        }
    }
}

/// Passes on the bytes of each datagram.
final class DatagramReader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let take: @Sendable ([UInt8]) -> Void

    init(_ take: @escaping @Sendable ([UInt8]) -> Void) {
        self.take = take
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(Array(unwrapInboundIn(data).data.readableBytesView))
    }

    /// Ignores ICMP errors: the device may not listen yet.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
