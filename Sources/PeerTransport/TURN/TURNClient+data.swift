import NIOCore

// Datagrams to and from peers (RFC 8656 §11, §12).
extension TURNClient {
    /// Sends to a peer: through its channel, as a Send indication, or once its permission is granted.
    mutating func send(_ payload: ByteBuffer, to peer: SocketAddress, at now: NIODeadline) {
        guard state == .allocated, payload.readableBytes <= 1500 else { return }
        if let channel = channels[peer], channel.isBound {
            return outputs.append(.transmit(channelData(payload, number: channel.number)))
        }
        switch permissions[peer.packedIPBytes] {
        case .granted:
            outputs.append(.transmit(STUNMessage.sendIndication(payload, to: peer, transactionID: makeID())))
        case .refused:
            break
        case .requested, nil:
            if held.count < Self.maximumHeld { held.append(Held(payload: payload, peer: peer)) }
            permit(peer, at: now)
        }
    }

    private func channelData(_ payload: ByteBuffer, number: UInt16) -> ByteBuffer {
        var message = ByteBuffer()
        message.reserveCapacity(payload.readableBytes + 8)
        message.writeInteger(number)
        message.writeInteger(UInt16(truncatingIfNeeded: payload.readableBytes))
        message.writeImmutableBuffer(payload)
        if configuration.isStream { message.writeRepeatingByte(0, count: -payload.readableBytes & 3) }
        return message
    }

    mutating func sendHeld(to key: [UInt8], at now: NIODeadline) {
        let ready = held.filter { $0.peer.packedIPBytes == key }
        held.removeAll { $0.peer.packedIPBytes == key }
        for item in ready { send(item.payload, to: item.peer, at: now) }
    }

    /// Takes one message from the server: a datagram, or a message of the stream.
    mutating func receive(_ bytes: ByteBuffer, at now: NIODeadline) {
        guard state == .allocating || state == .allocated,
            let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self)
        else { return }
        // 0x40 to 0x4F: ChannelData (RFC 8656 §12, RFC 7983 §7).
        if first & 0xF0 == 0x40 { return receiveChannelData(bytes) }
        guard let message = try? STUNMessage(parsing: bytes) else { return }
        switch message.messageClass {
        case .indication: receiveIndication(message)
        case .successResponse, .errorResponse: receiveResponse(message, at: now)
        case .request: break
        }
    }

    private mutating func receiveChannelData(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let number = bytes.readInteger(as: UInt16.self), let length = bytes.readInteger(as: UInt16.self),
            let peer = peersByChannel[number], channels[peer] != nil,
            // Padding may follow the payload.
            let payload = bytes.readSlice(length: Int(length))
        else { return }
        outputs.append(.event(.received(payload, from: peer)))
    }

    private mutating func receiveIndication(_ message: STUNMessage) {
        guard message.method == STUNMessage.dataMethod, let peer = message.peerAddress, let data = message.data,
            mayReceive(from: peer)
        else { return }
        outputs.append(.event(.received(data, from: peer)))
    }
}
