public import IoTCore
public import NIOCore

/// Data channels: SCTP in DTLS records (RFC 8261, RFC 8831). They need `PeerConfiguration.dataChannels`.
extension PeerConnection {
    /// Opens a channel. May be called at any time: before the connection is up, the channel waits. `dataChannelOpened`
    /// reports that it may be used, `dataChannelClosed` that it may not.
    ///
    /// - Parameters:
    ///   - label: at most 1,024 bytes, not necessarily unique.
    ///   - subprotocol: at most 1,024 bytes.
    /// - Throws: `actionNotSupported` when this connection has no data channels, `tooManyConnections` when there are
    ///   too many channels or all streams are in use, `duplicateChannel` when the negotiated id is in use,
    ///   `invalidParameter` for a label or an option out of its range, `channelDisconnected` after the end.
    @discardableResult
    public func openDataChannel(
        label: String, subprotocol: String = "", options: DataChannelOptions = DataChannelOptions(),
        at time: NIODeadline
    ) throws(IoTError) -> DataChannel {
        now = max(now, time)
        guard configuration.dataChannels != nil, !state.isEnd else {
            throw state.isEnd
                ? IoTError(.channelDisconnected, "the connection has ended")
                : IoTError(.actionNotSupported, "this connection was made without data channels")
        }
        let channel = try withDataChannels { (transport) throws(IoTError) in
            try transport.open(label: label, subprotocol: subprotocol, options: options, at: now)
        }
        guard let channel else { throw IoTError(.channelDisconnected, "the connection has ended") }
        return channel
    }

    /// Sends one message.
    ///
    /// - Throws: `channelDisconnected` when the channel is not open, `dataTooLong` when the message is longer than our
    ///   limit (64,000 bytes) or the peer's, `channelSendFailed` when the send buffer is full: wait for
    ///   `dataChannelBufferedAmountLow`.
    public func send(
        _ message: DataChannelMessage, on id: DataChannelID, at time: NIODeadline
    ) throws(IoTError) {
        now = max(now, time)
        let isSent: Void? = try withDataChannels { (transport) throws(IoTError) in
            try transport.send(message, on: id, at: now)
        }
        if isSent == nil { throw IoTError(.channelDisconnected, "the data channel is not open") }
    }

    /// Closes a channel once its sent data are acknowledged. `dataChannelClosed` follows when the peer has agreed.
    public func closeDataChannel(_ id: DataChannelID, at time: NIODeadline) {
        now = max(now, time)
        withDataChannels { $0.close(id, at: now) }
    }

    /// The current state of the channel; `nil` when it is closed.
    public func dataChannel(_ id: DataChannelID) -> DataChannel? {
        dataChannels?.entries[id]?.channel
    }

    /// Bytes that `send` has accepted and that have not been transmitted yet.
    public func bufferedAmount(of id: DataChannelID) -> Int {
        dataChannels?.bufferedAmount(of: id) ?? 0
    }

    /// When the buffered amount falls to this number of bytes, `dataChannelBufferedAmountLow` follows. Default 0.
    public func setBufferedAmountLowThreshold(_ bytes: Int, of id: DataChannelID) {
        dataChannels?.setBufferedAmountLowThreshold(bytes, of: id)
    }

    /// The maximum length of a message: 64,000 bytes, or less when the peer accepts less.
    public var maximumDataChannelMessage: Int {
        dataChannels?.maximumMessage ?? 0
    }

    // MARK: Signalling

    func dataSection(mid: String) -> DataSection? {
        configuration.dataChannels.map { DataSection(mid: mid, maximumMessageSize: $0.maximumReceivedMessage) }
    }

    static func freeMid(beside entries: [SessionDescription.Entry]) -> String {
        let used = entries.compactMap { entry -> String? in
            if case .media(let section) = entry { section.mid } else { nil }
        }
        var number = entries.count
        while used.contains("\(number)") { number += 1 }
        return "\(number)"
    }

    func dataAnswer(to offered: DataSection, isFirst: Bool) -> DataSection {
        guard !offered.isRejected, isFirst, let section = dataSection(mid: offered.mid) else {
            var section = offered
            section.isRejected = true
            return section
        }
        return section
    }

    static func agreesOnData(local: SessionDescription, remote: SessionDescription) -> Bool {
        local.dataSection?.isRejected == false && remote.dataSection?.isRejected == false
    }

    // MARK: Running

    /// Runs when DTLS is connected.
    func startDataChannels(role: DTLSSession.Role) {
        guard let local = localDescription, let remote = remoteDescription, dataChannels != nil else { return }
        withDataChannels { transport in
            guard Self.agreesOnData(local: local, remote: remote), let ours = local.dataSection,
                let theirs = remote.dataSection
            else { return transport.end(IoTError(.actionNotSupported, "the peer does not accept data channels")) }
            transport.start(
                DataChannelTransport.Agreement(
                    isDTLSClient: role == .client, localPort: ours.sctpPort, remotePort: theirs.sctpPort,
                    peerMaximumMessage: theirs.maximumMessageSize), at: now)
        }
    }

    /// Takes the data of received DTLS records.
    func receiveDataChannels() {
        while let packet = dtls?.nextReceived() {
            guard configuration.dataChannels != nil, !state.isEnd else { continue }
            ice.noteTraffic(at: now)
            dataChannels?.receive(packet, at: now)
        }
        flushDataChannels()
    }

    func runDataChannels() {
        guard let deadline = dataChannels?.nextDeadline, now >= deadline else { return }
        withDataChannels { $0.handleTimeout(at: now) }
    }

    func endDataChannels(_ error: IoTError?) {
        guard dataChannels != nil else { return }
        dataChannels?.end(error)
        dataChannels?.association?.abort(at: now)
        while let packet = dataChannels?.nextPacket(at: now) {
            guard error?.code != .timeoutDisconnected else { continue }
            dtls?.send(packet)
            flushDTLSDatagrams()
        }
        takeDataChannelEvents()
    }

    /// Runs a call on the transport, then sends its packets and reports its events.
    @discardableResult
    private func withDataChannels<Result, Failure: Error>(
        _ body: (inout DataChannelTransport) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        defer { flushDataChannels() }
        return try dataChannels?.perform(body)
    }

    private func flushDataChannels() {
        while let packet = dataChannels?.nextPacket(at: now) {
            dtls?.send(packet)
            flushDTLSDatagrams()
        }
        takeDataChannelEvents()
    }

    private func takeDataChannelEvents() {
        while let event = dataChannels?.nextEvent() {
            switch event {
            case .opened(let channel): outputs.append(.event(.dataChannelOpened(channel)))
            case .message(let id, let message): outputs.append(.event(.dataChannelMessage(id, message)))
            case .closed(let id, let error): outputs.append(.event(.dataChannelClosed(id, error)))
            case .bufferedAmountLow(let id): outputs.append(.event(.dataChannelBufferedAmountLow(id)))
            }
        }
    }
}
