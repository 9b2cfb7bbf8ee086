import IoTCore
public import NIOCore

/// Finds devices by WS-Discovery: sends Probes to the group on every interface, and listens for Hello and Bye.
public struct WSDFinder: DeviceFinder {
    private let loops: any EventLoopGroup
    private let interfaces: @Sendable () -> [LANInterface]

    /// More than a search lists. If the reader is slow, further answers are dropped; devices answer later Probes again.
    private static let capacity = 1024

    /// - Parameter interfaces: The interfaces to search.
    public init(
        loops: any EventLoopGroup, interfaces: @escaping @Sendable () -> [LANInterface] = { LANInterface.all() }
    ) {
        self.loops = loops
        self.interfaces = interfaces
    }

    public func find(for duration: Duration) -> AsyncStream<DeviceSighting> {
        let (stream, source) = AsyncStream.makeStream(
            of: DeviceSighting.self, bufferingPolicy: .bufferingOldest(Self.capacity))
        let loop = loops.next()
        let interfaces = interfaces()
        let duration = TimeAmount(duration)
        loop.execute {
            let search = WSDSearch(duration, eventLoop: loop, source)
            let me = NIOLoopBound(search, eventLoop: loop)
            // The closure keeps the search alive until it ends.
            source.onTermination = { _ in loop.execute { me.value.stop() } }
            search.start(interfaces)
        }
        return stream
    }
}

/// One search. Confined to its event loop.
private final class WSDSearch {
    private let eventLoop: any EventLoop
    private let source: AsyncStream<DeviceSighting>.Continuation
    private let end: NIODeadline
    private var prober: WSDProber
    private var asking: [LANSocket] = []
    private var listening: [LANSocket] = []
    private var timer: Scheduled<Void>?
    private var isStopped = false

    init(_ duration: TimeAmount, eventLoop: any EventLoop, _ source: AsyncStream<DeviceSighting>.Continuation) {
        self.eventLoop = eventLoop
        self.source = source
        let now = NIODeadline.now()
        end = now + duration
        prober = WSDProber(duration, from: now, random: SystemRandomNumberGenerator())
    }

    func start(_ interfaces: [LANInterface]) {
        guard !isStopped else { return }
        let deliver: ([UInt8], WSDResponder.Peer) -> Void = { [weak self] in self?.received($0, from: $1) }
        asking = LANSocket.open(interfaces, .ask, eventLoop: eventLoop, deliver: deliver)
        listening = LANSocket.open(interfaces, .listen, eventLoop: eventLoop, deliver: deliver)
        advance()
    }

    private func advance() {
        guard !isStopped else { return }
        let now = NIODeadline.now()
        guard now < end else { return source.finish() }
        for datagram in prober.due(at: now) {
            for socket in asking { socket.sendToGroup(datagram) }
        }
        let next = min(prober.nextDeadline ?? end, end)
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.advance() }
    }

    private func received(_ datagram: [UInt8], from peer: WSDResponder.Peer) {
        guard !isStopped, let message = try? WSDMessage(datagram) else { return }
        // Some devices relate their answer to another message: answers at this port are accepted nevertheless.
        switch message.body {
        case .probeMatches(let targets): for target in targets { found(target, peer) }
        case .resolveMatches(let target): if let target { found(target, peer) }
        case .hello(let target): found(target, peer)
        case .bye(let target): source.yield(.gone(identity: target.endpoint, foundBy: .wsDiscovery))
        case .probe, .resolve: break
        }
    }

    private func found(_ target: WSDTarget, _ peer: WSDResponder.Peer) {
        // Printers and computers also answer.
        guard target.isCamera else { return }
        source.yield(.found(DiscoveredDevice(target, from: peer.address)))
    }

    func stop() {
        isStopped = true
        timer?.cancel()
        timer = nil
        for socket in asking + listening { socket.close() }
        (asking, listening) = ([], [])
    }
}

extension WSDTarget {
    /// Whether the device describes itself as a camera, or may be one because it has no types. The meaning of an
    /// undeclared prefix is guessed.
    var isCamera: Bool {
        let cameras = [WSDNamespace.videoTransmitter, WSDNamespace.camera]
        let namespaces = [WSDNamespace.onvifNetwork, WSDNamespace.onvifDevice, ""]
        let names = ["NetworkVideoTransmitter", "NetworkVideoStorage", "Device"]
        return types.isEmpty && scopes.contains { $0.lowercased().hasPrefix("onvif:") }
            || types.contains(where: cameras.contains)
            || types.contains { namespaces.contains($0.namespace) && names.contains($0.local) }
    }
}
