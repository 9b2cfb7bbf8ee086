import NIOCore

// Only the first attribute of each type counts (RFC 8489 §14).
extension STUNMessage {
    var username: STUNText? {
        first { if case .username(let text) = $0 { text } else { nil } }
    }

    var priority: UInt32? {
        first { if case .priority(let value) = $0 { value } else { nil } }
    }

    var usesCandidate: Bool {
        attributes.contains(.useCandidate)
    }

    /// The sender's tie breaker if it is controlling.
    var controllingTieBreaker: UInt64? {
        first { if case .iceControlling(let value) = $0 { value } else { nil } }
    }

    /// The sender's tie breaker if it is controlled.
    var controlledTieBreaker: UInt64? {
        first { if case .iceControlled(let value) = $0 { value } else { nil } }
    }

    var errorCode: Int? {
        first { if case .errorCode(let code, _) = $0 { code } else { nil } }
    }

    var errorReason: String? {
        first { if case .errorCode(_, let reason) = $0 { reason } else { nil } }
    }

    var mappedAddress: SocketAddress? {
        first { if case .xorMappedAddress(let address) = $0 { address } else { nil } }
            ?? first { if case .mappedAddress(let address) = $0 { address } else { nil } }
    }

    var realm: STUNText? {
        first { if case .realm(let text) = $0 { text } else { nil } }
    }

    var nonce: [UInt8]? {
        first { if case .nonce(let bytes) = $0 { bytes } else { nil } }
    }

    /// The unparsed list.
    var passwordAlgorithms: [UInt8]? {
        first { if case .passwordAlgorithms(let bytes) = $0 { bytes } else { nil } }
    }

    var alternateServer: SocketAddress? {
        first { if case .alternateServer(let address) = $0 { address } else { nil } }
    }

    /// In seconds.
    var lifetime: UInt32? {
        first { if case .lifetime(let seconds) = $0 { seconds } else { nil } }
    }

    var channelNumber: UInt16? {
        first { if case .channelNumber(let number) = $0 { number } else { nil } }
    }

    var peerAddress: SocketAddress? {
        first { if case .xorPeerAddress(let address) = $0 { address } else { nil } }
    }

    var data: ByteBuffer? {
        first { if case .data(let bytes) = $0 { bytes } else { nil } }
    }

    /// One address, or one of each family (RFC 8656 §7.3).
    var relayedAddresses: [SocketAddress] {
        attributes.compactMap { if case .xorRelayedAddress(let address) = $0 { address } else { nil } }
    }

    /// The types of unknown comprehension-required attributes.
    var unknownRequiredAttributes: [UInt16] {
        attributes.filter(\.isUnknownAndRequired).map(\.number)
    }

    private func first<Value>(_ pick: (STUNAttribute) -> Value?) -> Value? {
        for attribute in attributes {
            if let value = pick(attribute) { return value }
        }
        return nil
    }
}
