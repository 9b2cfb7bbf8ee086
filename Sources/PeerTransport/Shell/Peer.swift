public import IoTCore
public import NIOCore
public import RTP

/// Drives one `PeerConnection` over a `PeerSocket`: forwards its calls, sends its datagrams, runs its timer.
///
/// Not Sendable: all calls and events are on the socket's event loop. An event's handler may call its methods; the
/// effects follow after the handler returns.
public final class Peer {
    let connection: PeerConnection
    let socket: PeerDemultiplexer
    let eventLoop: any EventLoop
    /// Created when a name or a relay is first needed.
    var network: PeerNetwork?
    private var onEvent: ((PeerEvent) -> Void)?
    private var isPumping = false
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture

    /// The addresses that the peer has been validated at.
    private(set) var addresses: Set<SocketAddress> = []

    /// Above this, addresses that ICE no longer keeps are removed; ICE keeps 100.
    private static let maximumAddresses = 128

    /// Our user name fragments that the peer's checks use, newest last.
    var iceUfrags: [String]
    static let maximumUfrags = 2

    init(
        connection: PeerConnection, socket: PeerDemultiplexer, eventLoop: any EventLoop,
        onEvent: @escaping (PeerEvent) -> Void
    ) {
        self.connection = connection
        self.socket = socket
        self.eventLoop = eventLoop
        self.onEvent = onEvent
        iceUfrags = [connection.iceUfrag]
    }

    public var state: PeerConnectionState { connection.state }
    public var statistics: PeerStatistics { connection.statistics }
    public var localDescription: SessionDescription? { connection.localDescription }
    public var remoteDescription: SessionDescription? { connection.remoteDescription }

    /// See `PeerConnection.mediaClockAnchor`.
    public var mediaClockAnchor: MediaClockAnchor? {
        get { connection.mediaClockAnchor }
        set { connection.mediaClockAnchor = newValue }
    }

    public func sendingCodec(mid: String) -> RTPCodec? { connection.sendingCodec(mid: mid) }
    public func receivingCodecs(mid: String) -> [RTPCodec] { connection.receivingCodecs(mid: mid) }

    /// See `PeerConnection.createOffer`.
    public func createOffer() throws(IoTError) -> SessionDescription {
        let offer = try connection.createOffer()
        pump()
        return offer
    }

    /// See `PeerConnection.createAnswer`.
    public func createAnswer(
        to offer: SessionDescription, accepting: (MediaSection) -> Bool = { _ in true }
    ) throws(IoTError) -> SessionDescription {
        let answer = try connection.createAnswer(to: offer, accepting: accepting)
        noteUfrag()
        begin()
        return answer
    }

    /// See `PeerConnection.setAnswer`.
    public func setAnswer(_ answer: SessionDescription) throws(IoTError) {
        try connection.setAnswer(answer)
        begin()
    }

    /// See `PeerConnection.addRemoteCandidate`.
    public func addRemoteCandidate(_ text: String) throws(IoTError) {
        try connection.addRemoteCandidate(text)
        begin()
    }

    /// See `PeerConnection.addHostAddress`.
    public func addHostAddress(_ address: SocketAddress) {
        connection.addHostAddress(address)
        pump()
    }

    /// See `PeerConnection.endHostAddresses`.
    public func endHostAddresses() {
        connection.endHostAddresses()
        pump()
    }

    /// See `PeerConnection.send`.
    @discardableResult
    public func send(_ packets: [MediaPacket], mid: String) -> Bool {
        let isSent = connection.send(packets, mid: mid, at: eventLoop.now)
        pump()
        return isSent
    }

    /// See `PeerConnection.resend`.
    @discardableResult
    public func resend(_ packet: MediaPacket, mid: String) -> Bool {
        let isSent = connection.resend(packet, mid: mid, at: eventLoop.now)
        pump()
        return isSent
    }

    /// See `PeerConnection.undelivered`.
    public func undelivered(mid: String) -> [Int64] {
        connection.undelivered(mid: mid, at: eventLoop.now)
    }

    /// See `PeerConnection.repair`.
    public func repair(_ sequences: [Int64], mid: String) {
        connection.repair(sequences, mid: mid, at: eventLoop.now)
        pump()
    }

    /// See `PeerConnection.setRotation`.
    public func setRotation(_ rotation: PictureRotation, mid: String) {
        connection.setRotation(rotation, mid: mid)
    }

    /// See `PeerConnection.requestKeyFrame`.
    public func requestKeyFrame(mid: String) {
        connection.requestKeyFrame(mid: mid)
        pump()
    }

    /// See `PeerConnection.openDataChannel`.
    @discardableResult
    public func openDataChannel(
        label: String, subprotocol: String = "", options: DataChannelOptions = DataChannelOptions()
    ) throws(IoTError) -> DataChannel {
        let channel = try connection.openDataChannel(
            label: label, subprotocol: subprotocol, options: options, at: eventLoop.now)
        pump()
        return channel
    }

    /// See `PeerConnection.send(_:on:at:)`.
    public func send(_ message: DataChannelMessage, on id: DataChannelID) throws(IoTError) {
        try connection.send(message, on: id, at: eventLoop.now)
        pump()
    }

    /// See `PeerConnection.closeDataChannel`.
    public func closeDataChannel(_ id: DataChannelID) {
        connection.closeDataChannel(id, at: eventLoop.now)
        pump()
    }

    public func dataChannel(_ id: DataChannelID) -> DataChannel? { connection.dataChannel(id) }

    /// See `PeerConnection.bufferedAmount`.
    public func bufferedAmount(of id: DataChannelID) -> Int { connection.bufferedAmount(of: id) }

    /// See `PeerConnection.setBufferedAmountLowThreshold`.
    public func setBufferedAmountLowThreshold(_ bytes: Int, of id: DataChannelID) {
        connection.setBufferedAmountLowThreshold(bytes, of: id)
    }

    /// Closes the connection with a goodbye; `.stateChanged(.closed)` is the last event.
    public func close() {
        connection.close(at: eventLoop.now)
        pump()
    }

    func socketClosed() {
        connection.fail(IoTError(.peerFailed, "the datagram socket was closed"))
        pump()
    }

    func receive(_ datagram: ByteBuffer, from source: SocketAddress) {
        connection.receive(datagram, from: source, at: eventLoop.now)
        pump()
    }

    func awaitsResponse(to id: STUNTransactionID) -> Bool {
        connection.awaitsResponse(to: id)
    }

    /// Returns true once for each address that the peer has been validated at.
    func claim(_ address: SocketAddress) -> Bool {
        guard !connection.state.isEnd, connection.hasValidated(address), addresses.insert(address).inserted else {
            return false
        }
        if addresses.count > Self.maximumAddresses {
            for old in addresses where !connection.hasValidated(old) {
                addresses.remove(old)
                socket.remove(self, address: old)
            }
        }
        return true
    }

    /// Passes the time, which the effects of a description or a candidate wait for.
    func begin() {
        connection.handleTimeout(at: eventLoop.now)
        pump()
    }

    func pump() {
        // Called inside an event handler: the outer `pump` continues.
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        while true {
            switch connection.poll() {
            case .transmit(let datagram, let address)?: socket.write(datagram, to: address)
            case .event(let event)?: onEvent?(event)
            case .network(let request)?: perform(request)
            case .timeout(let deadline)?: return schedule(deadline)
            case nil: return finish()
            }
        }
    }

    /// A timer that fires too early costs one check; a new timer for each packet would cost more.
    private func schedule(_ deadline: NIODeadline) {
        guard deadline < timerDeadline else { return }
        timer?.cancel()
        timerDeadline = deadline
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.timerRang() }
    }

    private func timerRang() {
        timer = nil
        timerDeadline = .distantFuture
        connection.handleTimeout(at: eventLoop.now)
        pump()
    }

    private func finish() {
        timer?.cancel()
        timer = nil
        timerDeadline = .distantFuture
        onEvent = nil
        network?.close()
        network = nil
        socket.remove(self)
    }
}
