import NIOCore

// The first attribute of each type is the one that counts (RFC 8489 §14).
extension STUNMessage {
    var username: String? {
        first { if case .username(let text) = $0 { text } else { nil } }
    }

    var priority: UInt32? {
        first { if case .priority(let value) = $0 { value } else { nil } }
    }

    var usesCandidate: Bool {
        attributes.contains(.useCandidate)
    }

    /// The sender's tie breaker when it thinks that it controls.
    var controllingTieBreaker: UInt64? {
        first { if case .iceControlling(let value) = $0 { value } else { nil } }
    }

    /// The sender's tie breaker when it thinks that it is controlled.
    var controlledTieBreaker: UInt64? {
        first { if case .iceControlled(let value) = $0 { value } else { nil } }
    }

    var errorCode: Int? {
        first { if case .errorCode(let code, _) = $0 { code } else { nil } }
    }

    var mappedAddress: SocketAddress? {
        first { if case .xorMappedAddress(let address) = $0 { address } else { nil } }
            ?? first { if case .mappedAddress(let address) = $0 { address } else { nil } }
    }

    /// The types that must be understood and are not.
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
