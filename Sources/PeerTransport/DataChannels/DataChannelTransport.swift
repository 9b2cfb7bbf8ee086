import IoTCore
import NIOCore

/// All data channels of one connection, over one association (RFC 8831, RFC 8832).
///
/// Owns no socket, clock, task or logger. After each call, drain `nextPacket` and `nextEvent`; call `handleTimeout` at
/// `nextDeadline`.
struct DataChannelTransport {
    enum Event {
        case opened(DataChannel)
        case message(DataChannelID, DataChannelMessage)
        case closed(DataChannelID, IoTError?)
        case bufferedAmountLow(DataChannelID)
    }

    /// A channel and the transport's own state of it.
    struct Entry {
        var channel: DataChannel
        var statistics: DataChannelStatistics

        /// True when the peer has shown that it knows the channel. Until then all messages are ordered after the OPEN
        /// (RFC 8832 §6).
        var isConfirmed = false
        var isIncomingReset = false
        var isOutgoingReset = false
        var threshold = 0
        var isAboveThreshold = false
    }

    /// The negotiated parameters.
    struct Agreement {
        /// The DTLS client has the even streams, the server the odd ones (RFC 8832 §6).
        var isDTLSClient: Bool
        var localPort: UInt16
        var remotePort: UInt16
        /// The peer's `a=max-message-size`; 0 for no limit.
        var peerMaximumMessage: Int
    }

    let configuration: DataChannelConfiguration
    private let generator: any RandomNumberGenerator
    var association: SCTPAssociation?
    var agreement: Agreement?

    /// The reason why no channel can be opened any more.
    var ending: IoTError?
    var entries: [DataChannelID: Entry] = [:]
    var byStream: [UInt16: DataChannelID] = [:]

    /// Channels that were opened before the association was established, in that order.
    var waiting: [DataChannelID] = []
    var events: CircularBuffer<Event> = []
    var ignored: UInt64 = 0

    /// W3C's RTCPeerConnectionStats.
    var openedCount: UInt64 = 0
    var closedCount: UInt64 = 0
    private var nextID = 0

    static let maximumStreams: UInt16 = 1024
    private static let maximumParameter = 65_535

    init(configuration: DataChannelConfiguration, generator: any RandomNumberGenerator) {
        self.configuration = configuration
        self.generator = generator
    }

    /// DTLS is connected: creates the association.
    mutating func start(_ agreement: Agreement, at now: NIODeadline) {
        guard association == nil, ending == nil else { return }
        self.agreement = agreement
        var sctp = SCTPConfiguration()
        sctp.localPort = agreement.localPort
        sctp.remotePort = agreement.remotePort
        sctp.maximumMessageSize = configuration.maximumReceivedMessage
        sctp.receiveWindow = max(1 << 20, configuration.maximumReceivedMessage * 2)
        sctp.maximumSendBuffer = configuration.maximumBufferedBytes
        sctp.maximumStreams = Self.maximumStreams
        association = SCTPAssociation(configuration: sctp, generator: generator, now: now)
        association?.connect(at: now)
    }

    // MARK: Channels

    mutating func open(
        label: String, subprotocol: String, options: DataChannelOptions, at now: NIODeadline
    ) throws(IoTError) -> DataChannel {
        if let ending { throw ending }
        try check(label: label, subprotocol: subprotocol, options: options)
        guard entries.count < min(configuration.maximumChannels, Int(Self.maximumStreams)) else {
            throw IoTError(.tooManyConnections, "there are already \(entries.count) data channels, which is the limit")
        }
        let id = makeID()
        var channel = DataChannel(
            id: id, label: label, subprotocol: subprotocol, options: options, isRemote: false)
        channel.streamID = options.negotiatedID
        entries[id] = Entry(
            channel: channel,
            statistics: DataChannelStatistics(label: label, protocol: subprotocol, state: .connecting))
        if let stream = options.negotiatedID { byStream[stream] = id }
        if association?.state == .established {
            do {
                try begin(id, at: now)
            } catch {
                forget(id)
                throw error
            }
            dispatch(at: now)
        } else {
            waiting.append(id)
        }
        return entries[id]?.channel ?? channel
    }

    private func check(label: String, subprotocol: String, options: DataChannelOptions) throws(IoTError) {
        guard label.utf8.count <= DCEPMessage.maximumNameSize,
            subprotocol.utf8.count <= DCEPMessage.maximumNameSize
        else {
            throw IoTError(
                .invalidParameter, "a label or a subprotocol must have at most \(DCEPMessage.maximumNameSize) bytes")
        }
        switch options.reliability {
        case .reliable: break
        case .maxRetransmits(let count):
            guard (0...Self.maximumParameter).contains(count) else {
                throw IoTError(.invalidParameter, "maxRetransmits must be from 0 to 65535")
            }
        case .maxPacketLifeTime(let time):
            guard (.zero ... .milliseconds(Int64(Self.maximumParameter))).contains(time) else {
                throw IoTError(.invalidParameter, "maxPacketLifeTime must be from 0 to 65535 ms")
            }
        }
        if let stream = options.negotiatedID {
            guard stream < Self.maximumStreams else {
                throw IoTError(.invalidParameter, "a negotiated id must be below \(Self.maximumStreams)")
            }
            guard byStream[stream] == nil else {
                throw IoTError(.duplicateChannel, "stream \(stream) is in use by another data channel")
            }
        }
    }

    /// - Throws: `channelDisconnected` when the channel is not open, `dataTooLong` for a message over our limit or the
    ///   peer's, `channelSendFailed` when the send buffer is full.
    mutating func send(_ message: DataChannelMessage, on id: DataChannelID, at now: NIODeadline) throws(IoTError) {
        guard let entry = entries[id], entry.channel.state == .open, let stream = entry.channel.streamID else {
            throw IoTError(.channelDisconnected, "the data channel is not open")
        }
        let size = message.byteCount
        guard size <= maximumMessage else {
            throw IoTError(.dataTooLong, "a message of \(size) bytes is over the limit of \(maximumMessage)")
        }
        let reliability: SCTPReliability =
            switch entry.channel.options.reliability {
            case .reliable: .reliable
            case .maxRetransmits(let count): .retransmissions(count)
            case .maxPacketLifeTime(let time): .until(now + time)
            }
        let (payloadProtocol, bytes) = DataChannelPayload.encode(message)
        try association?.send(
            bytes, on: stream, payloadProtocol: payloadProtocol,
            isUnordered: !entry.channel.options.isOrdered && entry.isConfirmed, reliability: reliability, at: now)
        entries[id]?.statistics.messagesSent += 1
        entries[id]?.statistics.bytesSent += UInt64(size)
        if bufferedAmount(of: id) > entry.threshold { entries[id]?.isAboveThreshold = true }
    }

    /// The size of the longest message that may be sent now.
    var maximumMessage: Int {
        guard let peer = agreement?.peerMaximumMessage, peer > 0 else { return configuration.maximumSentMessage }
        return min(peer, configuration.maximumSentMessage)
    }

    /// Queued messages are still sent; `closed` follows when the peer has agreed.
    mutating func close(_ id: DataChannelID, at now: NIODeadline) {
        guard let entry = entries[id] else { return }
        switch entry.channel.state {
        case .connecting: finish(id, error: nil)
        case .open: beginClosing(id, at: now)
        case .closing, .closed: break
        }
    }

    /// Bytes that `send` has accepted and that have not been transmitted yet.
    func bufferedAmount(of id: DataChannelID) -> Int {
        guard let stream = entries[id]?.channel.streamID else { return 0 }
        return association?.outbox.byteCount(of: stream) ?? 0
    }

    mutating func setBufferedAmountLowThreshold(_ bytes: Int, of id: DataChannelID) {
        entries[id]?.threshold = max(0, bytes)
        let isAbove = bufferedAmount(of: id) > max(0, bytes)
        entries[id]?.isAboveThreshold = isAbove
    }

    /// Ends all channels at once and aborts the association with the peer.
    mutating func abort(at now: NIODeadline) {
        association?.abort(at: now)
        dispatch(at: now)
        end(nil)
    }

    /// Ends all channels. No channel can be opened with this peer any more.
    mutating func end(_ error: IoTError?) {
        guard ending == nil else { return }
        ending = error ?? IoTError(.channelDisconnected, "the connection has ended")
        for id in entries.keys.sorted(by: { $0.value < $1.value }) { finish(id, error: error) }
    }

    // MARK: Input and output

    mutating func receive(_ packet: ByteBuffer, at now: NIODeadline) {
        association?.receive(packet, at: now)
        dispatch(at: now)
    }

    mutating func handleTimeout(at now: NIODeadline) {
        association?.handleTimeout(at: now)
        dispatch(at: now)
    }

    var nextDeadline: NIODeadline? {
        association?.nextDeadline
    }

    mutating func nextPacket(at now: NIODeadline) -> ByteBuffer? {
        guard let packet = association?.nextPacket() else { return nil }
        noteShortened()
        dispatch(at: now)
        return packet
    }

    mutating func nextEvent() -> Event? {
        events.popFirst()
    }

    /// Runs in place, because a second copy of this value would copy every queue.
    mutating func perform<Result, Failure: Error>(
        _ body: (inout DataChannelTransport) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(&self)
    }

    private mutating func noteShortened() {
        guard let shortened = association?.outbox.takeShortened() else { return }
        for stream in shortened {
            guard let id = byStream[stream], let entry = entries[id], entry.isAboveThreshold,
                bufferedAmount(of: id) <= entry.threshold
            else { continue }
            entries[id]?.isAboveThreshold = false
            if entry.channel.state == .open { events.append(.bufferedAmountLow(id)) }
        }
    }

    mutating func makeID() -> DataChannelID {
        nextID += 1
        return DataChannelID(value: nextID)
    }
}
