import IoTCore
import NIOCore

/// Events of the association, and the life cycle of channels.
extension DataChannelTransport {
    mutating func dispatch(at now: NIODeadline) {
        while let event = association?.nextEvent() {
            switch event {
            case .established: beginWaiting(at: now)
            case .message(let message): take(message, at: now)
            case .incomingStreamsReset(let streams): incomingReset(streams, at: now)
            case .outgoingStreamsReset(let streams): outgoingReset(streams)
            case .restarted:
                let error = IoTError(.channelDisconnected, "the peer has restarted the data channels")
                for id in openIDs { finish(id, error: error) }
            case .ended(let error): end(error)
            }
        }
    }

    private var openIDs: [DataChannelID] {
        entries.values.filter { $0.channel.state != .connecting }.map(\.channel.id).sorted { $0.value < $1.value }
    }

    // MARK: Opening

    private mutating func beginWaiting(at now: NIODeadline) {
        let ids = waiting
        waiting = []
        // Channels with negotiated numbers first, so that no other channel takes their numbers.
        for id in ids {
            do throws(IoTError) {
                try begin(id, at: now)
            } catch {
                finish(id, error: error)
            }
        }
    }

    /// Assigns a stream to the channel and signals it to the peer.
    mutating func begin(_ id: DataChannelID, at now: NIODeadline) throws(IoTError) {
        guard let entry = entries[id], let remote = association?.remote else { return }
        let options = entry.channel.options
        let limit = min(remote.outgoingStreams, remote.incomingStreams)
        if let stream = options.negotiatedID {
            guard stream < limit else {
                throw IoTError(.invalidParameter, "the peer allows only \(limit) streams")
            }
            entries[id]?.isConfirmed = true
        } else {
            guard let stream = freeStream(below: limit) else {
                throw IoTError(.tooManyConnections, "all \(limit / 2) streams of this side are in use")
            }
            let open = DCEPMessage.open(
                DCEPMessage.Open(
                    label: entry.channel.label, subprotocol: entry.channel.subprotocol,
                    isOrdered: options.isOrdered, reliability: options.reliability, priority: options.priority))
            try association?.send(
                open.write(), on: stream, payloadProtocol: DataChannelPayload.control, isBounded: false, at: now)
            byStream[stream] = id
            entries[id]?.channel.streamID = stream
        }
        becomeOpen(id)
    }

    private func freeStream(below limit: UInt16) -> UInt16? {
        guard let agreement else { return nil }
        var stream: UInt16 = agreement.isDTLSClient ? 0 : 1
        while stream < limit {
            if byStream[stream] == nil, association?.resets.isPending(stream) == false { return stream }
            stream += 2
        }
        return nil
    }

    private mutating func becomeOpen(_ id: DataChannelID) {
        entries[id]?.channel.state = .open
        openedCount += 1
        if let channel = entries[id]?.channel { events.append(.opened(channel)) }
    }

    // MARK: Messages

    private mutating func take(_ message: SCTPMessage, at now: NIODeadline) {
        if message.payloadProtocol == DataChannelPayload.control {
            switch DCEPMessage(parsing: message.payload) {
            case .open(let open): takeOpen(open, stream: message.stream, at: now)
            case .acknowledgement:
                if let id = byStream[message.stream] { entries[id]?.isConfirmed = true } else { ignored += 1 }
            case nil:
                refuse(message.stream, at: now)
            }
            return
        }
        guard let id = byStream[message.stream], entries[id]?.channel.state == .open,
            let content = DataChannelPayload.decode(message.payloadProtocol, message.payload)
        else {
            ignored += 1
            return
        }
        entries[id]?.isConfirmed = true
        entries[id]?.statistics.messagesReceived += 1
        entries[id]?.statistics.bytesReceived += UInt64(content.byteCount)
        events.append(.message(id, content))
    }

    private mutating func takeOpen(_ open: DCEPMessage.Open, stream: UInt16, at now: NIODeadline) {
        // The peer must not use our half of the streams (RFC 8832 §6).
        let isPeers = (stream & 1 == 0) != (agreement?.isDTLSClient ?? false)
        guard byStream[stream] == nil else {
            ignored += 1
            return
        }
        guard isPeers, entries.count < min(configuration.maximumChannels, Int(Self.maximumStreams)),
            association?.resets.isPending(stream) == false
        else { return refuse(stream, at: now) }
        let id = makeID()
        var channel = DataChannel(
            id: id, label: open.label, subprotocol: open.subprotocol,
            options: DataChannelOptions(
                isOrdered: open.isOrdered, reliability: open.reliability, priority: open.priority),
            isRemote: true)
        channel.streamID = stream
        do throws(IoTError) {
            try association?.send(
                DCEPMessage.acknowledgement.write(), on: stream, payloadProtocol: DataChannelPayload.control,
                isBounded: false, at: now)
        } catch {
            ignored += 1
            return
        }
        var entry = Entry(
            channel: channel,
            statistics: DataChannelStatistics(label: open.label, protocol: open.subprotocol, state: .open))
        entry.isConfirmed = true
        entries[id] = entry
        byStream[stream] = id
        becomeOpen(id)
    }

    /// Closes, from our side, a stream on which no channel can be opened (RFC 8832 §6).
    private mutating func refuse(_ stream: UInt16, at now: NIODeadline) {
        ignored += 1
        guard byStream[stream] == nil, let remote = association?.remote, stream < remote.outgoingStreams else { return }
        association?.resetStreams([stream], at: now)
    }

    // MARK: Closing (RFC 8831 §6.7)

    mutating func beginClosing(_ id: DataChannelID, at now: NIODeadline) {
        guard let stream = entries[id]?.channel.streamID else { return }
        entries[id]?.channel.state = .closing
        association?.resetStreams([stream], at: now)
    }

    private mutating func incomingReset(_ streams: [UInt16], at now: NIODeadline) {
        for stream in streams.isEmpty ? Array(byStream.keys).sorted() : streams {
            guard let id = byStream[stream], let entry = entries[id] else { continue }
            entries[id]?.isIncomingReset = true
            if entry.channel.state == .open {
                // The peer would not read messages that have not begun.
                association?.outbox.discard(stream)
                beginClosing(id, at: now)
            }
            finishIfDone(id)
        }
    }

    private mutating func outgoingReset(_ streams: [UInt16]) {
        for stream in streams {
            guard let id = byStream[stream] else { continue }
            entries[id]?.isOutgoingReset = true
            finishIfDone(id)
        }
    }

    private mutating func finishIfDone(_ id: DataChannelID) {
        guard let entry = entries[id], entry.isIncomingReset, entry.isOutgoingReset else { return }
        finish(id, error: nil)
    }

    /// Reports the end of the channel and removes it.
    mutating func finish(_ id: DataChannelID, error: IoTError?) {
        guard let entry = forget(id) else { return }
        if entry.channel.state != .connecting { closedCount += 1 }
        events.append(.closed(id, error))
    }

    @discardableResult
    mutating func forget(_ id: DataChannelID) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        waiting.removeAll { $0 == id }
        if let stream = entry.channel.streamID, byStream[stream] == id { byStream[stream] = nil }
        return entry
    }

    // MARK: Statistics

    var statistics: [DataChannelStatistics] {
        entries.values.sorted { $0.channel.id.value < $1.channel.id.value }.map { entry in
            var statistics = entry.statistics
            statistics.dataChannelIdentifier = entry.channel.streamID
            statistics.state = entry.channel.state
            return statistics
        }
    }

    var transportStatistics: SCTPTransportStatistics? {
        guard let association else { return nil }
        return SCTPTransportStatistics(
            smoothedRoundTripTime: association.timeout.smoothedRoundTrip,
            congestionWindow: association.congestion.window, receiverWindow: association.remote?.window ?? 0,
            mtu: association.configuration.maximumPacketSize, unackData: association.flight.count,
            packetsSent: association.counters.packetsSent, packetsReceived: association.counters.packetsReceived,
            chunksRetransmitted: association.counters.chunksRetransmitted,
            chunksDuplicate: association.counters.chunksDuplicate,
            messagesAbandoned: association.counters.messagesAbandoned, timeouts: association.counters.timeouts,
            ignored: ignored + association.counters.packetsInvalid)
    }
}
