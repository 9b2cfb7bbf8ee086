import NIOCore

/// When each packet of a transport arrived (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
public struct RTCPTransportWideFeedback: Sendable, Hashable {
    public enum Status: Sendable, Hashable {
        case missing

        /// Steps of 250 µs since the last packet that arrived, or since the reference time for the first.
        case received(delta: Int16)
    }

    public var senderSSRC: UInt32
    public var mediaSSRC: UInt32
    public var baseSequenceNumber: UInt16

    /// In steps of 64 ms on the receiver's clock; a signed 24-bit number.
    public var referenceTime: Int32

    /// The message counter; wraps.
    public var feedbackCount: UInt8

    /// The packets' statuses from the base sequence number on; 1 to 65,535.
    public var statuses: [Status]

    public init(
        senderSSRC: UInt32, mediaSSRC: UInt32, baseSequenceNumber: UInt16, referenceTime: Int32, feedbackCount: UInt8,
        statuses: [Status]
    ) {
        self.senderSSRC = senderSSRC
        self.mediaSSRC = mediaSSRC
        self.baseSequenceNumber = baseSequenceNumber
        self.referenceTime = referenceTime
        self.feedbackCount = feedbackCount
        self.statuses = statuses
    }

    /// §3.1.1: two bits per packet.
    private enum Symbol {
        static let missing: UInt8 = 0
        static let small: UInt8 = 1
        static let large: UInt8 = 2
    }
}

// MARK: Reading

extension RTCPTransportWideFeedback {
    init?(reading rest: inout ByteBuffer) {
        guard
            let (sender, media, base, count, time) = rest.readMultipleIntegers(
                as: (UInt32, UInt32, UInt16, UInt16, UInt32).self),
            count > 0, let symbols = Self.readSymbols(Int(count), from: &rest)
        else { return nil }
        var statuses: [Status] = []
        statuses.reserveCapacity(symbols.count)
        for symbol in symbols {
            switch symbol {
            case Symbol.missing: statuses.append(.missing)
            case Symbol.small:
                guard let delta = rest.readInteger(as: UInt8.self) else { return nil }
                statuses.append(.received(delta: Int16(delta)))
            case Symbol.large:
                guard let delta = rest.readInteger(as: Int16.self) else { return nil }
                statuses.append(.received(delta: delta))
            default: return nil
            }
        }
        self.init(
            senderSSRC: sender, mediaSSRC: media, baseSequenceNumber: base,
            // Sign-extends 24 bits.
            referenceTime: Int32(bitPattern: time) >> 8, feedbackCount: UInt8(time & 0xFF), statuses: statuses)
    }

    private static func readSymbols(_ count: Int, from rest: inout ByteBuffer) -> [UInt8]? {
        var symbols: [UInt8] = []
        symbols.reserveCapacity(count)
        while symbols.count < count {
            guard let chunk = rest.readInteger(as: UInt16.self) else { return nil }
            let room = count - symbols.count
            if chunk & 0x8000 == 0 {
                let symbol = UInt8(chunk >> 13 & 3)
                symbols.append(contentsOf: repeatElement(symbol, count: min(Int(chunk & 0x1FFF), room)))
                // An empty run would make this loop endless.
                if chunk & 0x1FFF == 0 { return nil }
            } else if chunk & 0x4000 == 0 {
                for bit in 0..<min(14, room) { symbols.append(UInt8(chunk >> UInt16(13 - bit) & 1)) }
            } else {
                for pair in 0..<min(7, room) { symbols.append(UInt8(chunk >> UInt16(12 - 2 * pair) & 3)) }
            }
        }
        return symbols
    }
}

// MARK: Writing

extension RTCPTransportWideFeedback {
    func write(into buffer: inout ByteBuffer) {
        let statuses = statuses.prefix(0xFFFF)
        buffer.writeMultipleIntegers(
            senderSSRC, mediaSSRC, baseSequenceNumber, UInt16(statuses.count),
            UInt32(bitPattern: referenceTime) << 8 | UInt32(feedbackCount))
        Self.write(symbols: statuses.map(Self.symbol), into: &buffer)
        for case .received(let delta) in statuses {
            if (0...255).contains(delta) {
                buffer.writeInteger(UInt8(delta))
            } else {
                buffer.writeInteger(delta)
            }
        }
    }

    private static func symbol(_ status: Status) -> UInt8 {
        switch status {
        case .missing: Symbol.missing
        case .received(let delta): (0...255).contains(delta) ? Symbol.small : Symbol.large
        }
    }

    /// Writes the symbols as chunks, each of the type that holds the most symbols.
    private static func write(symbols: [UInt8], into buffer: inout ByteBuffer) {
        var index = 0
        while index < symbols.count {
            let rest = symbols[index...]
            let run = min(rest.prefix { $0 == symbols[index] }.count, 0x1FFF)
            let short = rest.prefix(14).prefix { $0 != Symbol.large }
            if run >= min(14, rest.count) {
                buffer.writeInteger(UInt16(symbols[index]) << 13 | UInt16(run))
                index += run
            } else if short.count == min(14, rest.count) {
                // One bit per symbol; only the last chunk may have unused bits.
                var chunk: UInt16 = 0x8000
                for (place, symbol) in short.enumerated() { chunk |= UInt16(symbol) << UInt16(13 - place) }
                buffer.writeInteger(chunk)
                index += short.count
            } else {
                var chunk: UInt16 = 0xC000
                for (place, symbol) in rest.prefix(7).enumerated() { chunk |= UInt16(symbol) << UInt16(12 - 2 * place) }
                buffer.writeInteger(chunk)
                index += min(7, rest.count)
            }
        }
    }
}
