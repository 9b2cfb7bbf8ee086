import IoTCore
public import NIOCore

/// Announces this daemon's cameras on every interface where one of them can be reached, and answers Probes there
/// (WS-Discovery).
public final class WSDAnnouncer: Sendable {
    private let eventLoop: any EventLoop
    private let announcing: NIOLoopBound<Announcing>

    /// - Parameter interfaces: Returns the interfaces to announce on; called at each `update`.
    public static func start(
        on eventLoop: any EventLoop, interfaces: @escaping @Sendable () -> [LANInterface] = { LANInterface.all() }
    ) async throws -> WSDAnnouncer {
        try await eventLoop.submit {
            WSDAnnouncer(eventLoop, NIOLoopBound(Announcing(eventLoop, interfaces), eventLoop: eventLoop))
        }.get()
    }

    private init(_ eventLoop: any EventLoop, _ announcing: NIOLoopBound<Announcing>) {
        self.eventLoop = eventLoop
        self.announcing = announcing
    }

    /// Replaces the announced cameras and reads the interfaces again. Sends Hello for new or changed cameras and Bye
    /// for removed ones.
    public func update(_ cameras: [AnnouncedCamera]) async throws {
        try await eventLoop.submit { [announcing] in announcing.value.update(cameras) }.get()
    }

    /// Sends Bye for every camera and closes the sockets.
    public func stop() async throws {
        try await eventLoop.submit { [announcing] in announcing.value.stop() }.get()
    }
}

/// Confined to its event loop.
private final class Announcing {
    private let eventLoop: any EventLoop
    private let interfaces: @Sendable () -> [LANInterface]
    private var responder: WSDResponder
    private var sockets: [LANSocket] = []
    private var timer: Scheduled<Void>?

    init(_ eventLoop: any EventLoop, _ interfaces: @escaping @Sendable () -> [LANInterface]) {
        self.eventLoop = eventLoop
        self.interfaces = interfaces
        responder = WSDResponder(
            [], instance: UInt32(truncatingIfNeeded: WallClock.seconds()), random: SystemRandomNumberGenerator())
    }

    func update(_ cameras: [AnnouncedCamera]) {
        let now = NIODeadline.now()
        let known = Set(sockets.map(\.interface))
        let present = interfaces().filter { interface in
            // With no cameras the sockets stay open, for the Byes.
            cameras.isEmpty || cameras.contains { $0.address.map(interface.has) ?? true }
        }
        for socket in sockets where !present.contains(socket.interface) { socket.close() }
        sockets.removeAll { !present.contains($0.interface) }
        let added = present.filter { !known.contains($0) }
        sockets += LANSocket.open(added, .listen, eventLoop: eventLoop) { [weak self] in self?.received($0, from: $1) }
        send(responder.change(to: cameras.map { WSDTarget($0) }, hasNewInterface: !added.isEmpty, at: now))
        schedule()
    }

    func stop() {
        timer?.cancel()
        timer = nil
        send(responder.stop())
        for socket in sockets { socket.close() }
        sockets = []
    }

    private func received(_ datagram: [UInt8], from peer: WSDResponder.Peer) {
        guard let interface = sockets.first(where: { $0.interface.index == peer.interface })?.interface else { return }
        responder.receive(datagram, from: peer, isOnLink: interface.isOnLink(peer.address), at: .now())
        schedule()
    }

    private func send(_ outputs: [WSDResponder.Output]) {
        for output in outputs {
            switch output.destination {
            case .everybody: for socket in sockets { socket.sendToGroup(output.datagram) }
            case .peer(let peer):
                sockets.first { $0.interface.index == peer.interface && $0.isIPv6 == peer.address.isIPv6 }?
                    .send(output.datagram, to: peer)
            }
        }
    }

    private func schedule() {
        timer?.cancel()
        timer = responder.nextDeadline.map { deadline in
            eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.advance() }
        }
    }

    private func advance() {
        send(responder.due(at: .now()))
        schedule()
    }
}
