import NIOCore

/// One attribute of a STUN message (RFC 8489 §14, RFC 8445 §16.1, RFC 8656 §18).
///
/// MESSAGE-INTEGRITY, its SHA-256 form and FINGERPRINT are not included: they depend on the message's bytes, so
/// `STUNMessage` checks and writes them.
enum STUNAttribute: Sendable, Equatable {
    case mappedAddress(SocketAddress)
    case xorMappedAddress(SocketAddress)
    case username(STUNText)
    case realm(STUNText)
    case nonce([UInt8])
    case software(STUNText)
    case errorCode(Int, reason: String)
    case unknownAttributes([UInt16])
    case priority(UInt32)
    case useCandidate
    case iceControlled(tieBreaker: UInt64)
    case iceControlling(tieBreaker: UInt64)
    /// The unparsed list, which is returned unchanged (RFC 8489 §14.11).
    case passwordAlgorithms([UInt8])
    case passwordAlgorithm(UInt16)
    case alternateServer(SocketAddress)
    case channelNumber(UInt16)
    /// In seconds.
    case lifetime(UInt32)
    case xorPeerAddress(SocketAddress)
    case data(ByteBuffer)
    case xorRelayedAddress(SocketAddress)
    case requestedAddressFamily(AddressFamily)
    case additionalAddressFamily(AddressFamily)
    /// An IP protocol number: 17 is UDP.
    case requestedTransport(UInt8)
    /// An attribute that this code does not use.
    case other(type: UInt16, value: [UInt8])

    /// RFC 8656 §18.6.
    enum AddressFamily: UInt8, Sendable {
        case ipv4 = 1
        case ipv6 = 2
    }

    /// The registered numbers (RFC 8489 §18.3, RFC 8445 §21.2, RFC 8656 §18).
    enum Number {
        static let mappedAddress: UInt16 = 0x0001
        static let username: UInt16 = 0x0006
        static let messageIntegrity: UInt16 = 0x0008
        static let errorCode: UInt16 = 0x0009
        static let unknownAttributes: UInt16 = 0x000A
        static let channelNumber: UInt16 = 0x000C
        static let lifetime: UInt16 = 0x000D
        static let xorPeerAddress: UInt16 = 0x0012
        static let data: UInt16 = 0x0013
        static let realm: UInt16 = 0x0014
        static let nonce: UInt16 = 0x0015
        static let xorRelayedAddress: UInt16 = 0x0016
        static let requestedAddressFamily: UInt16 = 0x0017
        static let requestedTransport: UInt16 = 0x0019
        static let messageIntegritySHA256: UInt16 = 0x001C
        static let passwordAlgorithm: UInt16 = 0x001D
        static let xorMappedAddress: UInt16 = 0x0020
        static let priority: UInt16 = 0x0024
        static let useCandidate: UInt16 = 0x0025
        static let additionalAddressFamily: UInt16 = 0x8000
        static let passwordAlgorithms: UInt16 = 0x8002
        static let software: UInt16 = 0x8022
        static let alternateServer: UInt16 = 0x8023
        static let fingerprint: UInt16 = 0x8028
        static let iceControlled: UInt16 = 0x8029
        static let iceControlling: UInt16 = 0x802A
    }

    var number: UInt16 {
        switch self {
        case .mappedAddress: Number.mappedAddress
        case .xorMappedAddress: Number.xorMappedAddress
        case .username: Number.username
        case .realm: Number.realm
        case .nonce: Number.nonce
        case .software: Number.software
        case .errorCode: Number.errorCode
        case .unknownAttributes: Number.unknownAttributes
        case .priority: Number.priority
        case .useCandidate: Number.useCandidate
        case .iceControlled: Number.iceControlled
        case .iceControlling: Number.iceControlling
        case .passwordAlgorithms: Number.passwordAlgorithms
        case .passwordAlgorithm: Number.passwordAlgorithm
        case .alternateServer: Number.alternateServer
        case .channelNumber: Number.channelNumber
        case .lifetime: Number.lifetime
        case .xorPeerAddress: Number.xorPeerAddress
        case .data: Number.data
        case .xorRelayedAddress: Number.xorRelayedAddress
        case .requestedAddressFamily: Number.requestedAddressFamily
        case .additionalAddressFamily: Number.additionalAddressFamily
        case .requestedTransport: Number.requestedTransport
        case .other(let type, _): type
        }
    }

    /// True for a comprehension-required attribute that this code does not know (RFC 8489 §14).
    var isUnknownAndRequired: Bool {
        guard case .other(let type, _) = self else { return false }
        return type < 0x8000 && type != Number.messageIntegritySHA256
    }
}

extension STUNAttribute {
    /// Returns `nil` when the value is malformed for its type.
    init?(number: UInt16, value: ByteBuffer, transactionID: STUNTransactionID) {
        var value = value
        switch number {
        case Number.mappedAddress:
            guard let address = SocketAddress(readingSTUN: &value, xor: nil) else { return nil }
            self = .mappedAddress(address)
        case Number.xorMappedAddress:
            guard let address = SocketAddress(readingSTUN: &value, xor: transactionID) else { return nil }
            self = .xorMappedAddress(address)
        case Number.username: self = .username(STUNText(value))
        case Number.realm: self = .realm(STUNText(value))
        case Number.nonce: self = .nonce(Array(value.readableBytesView))
        case Number.software: self = .software(STUNText(value))
        case Number.errorCode:
            guard let word = value.readInteger(as: UInt32.self) else { return nil }
            let hundreds = Int(word >> 8 & 0x7)
            let rest = Int(word & 0xFF)
            guard (3...6).contains(hundreds), rest < 100 else { return nil }
            self = .errorCode(hundreds * 100 + rest, reason: String(buffer: value))
        case Number.unknownAttributes:
            var types: [UInt16] = []
            while let type = value.readInteger(as: UInt16.self) { types.append(type) }
            self = .unknownAttributes(types)
        case Number.priority:
            guard value.readableBytes == 4, let priority = value.readInteger(as: UInt32.self) else { return nil }
            self = .priority(priority)
        case Number.useCandidate:
            self = .useCandidate
        case Number.iceControlled:
            guard value.readableBytes == 8, let breaker = value.readInteger(as: UInt64.self) else { return nil }
            self = .iceControlled(tieBreaker: breaker)
        case Number.iceControlling:
            guard value.readableBytes == 8, let breaker = value.readInteger(as: UInt64.self) else { return nil }
            self = .iceControlling(tieBreaker: breaker)
        case Number.passwordAlgorithms: self = .passwordAlgorithms(Array(value.readableBytesView))
        case Number.data: self = .data(value)
        case Number.alternateServer:
            guard let address = SocketAddress(readingSTUN: &value, xor: nil) else { return nil }
            self = .alternateServer(address)
        case Number.xorPeerAddress:
            guard let address = SocketAddress(readingSTUN: &value, xor: transactionID) else { return nil }
            self = .xorPeerAddress(address)
        case Number.xorRelayedAddress:
            guard let address = SocketAddress(readingSTUN: &value, xor: transactionID) else { return nil }
            self = .xorRelayedAddress(address)
        case Number.passwordAlgorithm:
            guard let algorithm = value.readInteger(as: UInt16.self) else { return nil }
            self = .passwordAlgorithm(algorithm)
        case Number.lifetime:
            guard value.readableBytes == 4, let seconds = value.readInteger(as: UInt32.self) else { return nil }
            self = .lifetime(seconds)
        // The remaining bytes of these are reserved (RFC 8656 §18.1, §18.6, §18.7).
        case Number.channelNumber:
            guard value.readableBytes == 4, let channel = value.readInteger(as: UInt16.self) else { return nil }
            self = .channelNumber(channel)
        case Number.requestedTransport:
            guard value.readableBytes == 4, let number = value.readInteger(as: UInt8.self) else { return nil }
            self = .requestedTransport(number)
        case Number.requestedAddressFamily, Number.additionalAddressFamily:
            guard value.readableBytes == 4, let byte = value.readInteger(as: UInt8.self),
                let family = AddressFamily(rawValue: byte)
            else { return nil }
            self =
                number == Number.requestedAddressFamily
                ? .requestedAddressFamily(family) : .additionalAddressFamily(family)
        default:
            self = .other(type: number, value: Array(value.readableBytesView))
        }
    }

    /// Writes type, length, value and the padding to 4 bytes (RFC 8489 §14).
    func write(into buffer: inout ByteBuffer, transactionID: STUNTransactionID) {
        buffer.writeInteger(number)
        let lengthIndex = buffer.writerIndex
        buffer.writeInteger(UInt16(0))
        let start = buffer.writerIndex
        writeValue(into: &buffer, transactionID: transactionID)
        let length = buffer.writerIndex - start
        buffer.setInteger(UInt16(truncatingIfNeeded: length), at: lengthIndex)
        buffer.writeRepeatingByte(0, count: -length & 3)
    }

    private func writeValue(into buffer: inout ByteBuffer, transactionID: STUNTransactionID) {
        switch self {
        case .mappedAddress(let address), .alternateServer(let address):
            address.writeSTUN(into: &buffer, xor: nil)
        case .xorMappedAddress(let address), .xorPeerAddress(let address), .xorRelayedAddress(let address):
            address.writeSTUN(into: &buffer, xor: transactionID)
        case .username(let text), .realm(let text), .software(let text):
            buffer.writeBytes(text.bytes)
        case .nonce(let bytes), .passwordAlgorithms(let bytes), .other(_, let bytes):
            buffer.writeBytes(bytes)
        case .data(let bytes):
            buffer.writeImmutableBuffer(bytes)
        case .passwordAlgorithm(let algorithm):
            buffer.writeInteger(algorithm)
            // No parameters.
            buffer.writeInteger(UInt16(0))
        case .channelNumber(let channel):
            buffer.writeInteger(channel)
            buffer.writeInteger(UInt16(0))
        case .requestedTransport(let byte):
            buffer.writeInteger(UInt32(byte) << 24)
        case .requestedAddressFamily(let family), .additionalAddressFamily(let family):
            buffer.writeInteger(UInt32(family.rawValue) << 24)
        case .lifetime(let seconds):
            buffer.writeInteger(seconds)
        case .errorCode(let code, let reason):
            buffer.writeInteger(UInt16(0))
            buffer.writeInteger(UInt8(truncatingIfNeeded: code / 100))
            buffer.writeInteger(UInt8(truncatingIfNeeded: code % 100))
            buffer.writeString(reason)
        case .unknownAttributes(let types):
            for type in types { buffer.writeInteger(type) }
        case .priority(let priority):
            buffer.writeInteger(priority)
        case .useCandidate:
            break
        case .iceControlled(let breaker), .iceControlling(let breaker):
            buffer.writeInteger(breaker)
        }
    }
}
