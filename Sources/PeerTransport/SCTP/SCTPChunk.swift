import NIOCore

/// Chunk types (RFC 9260 §3.2, RFC 3758 §3.2, RFC 6525 §3.1).
enum SCTPChunkType {
    static let data: UInt8 = 0
    static let initiation: UInt8 = 1
    static let initiationAcknowledgement: UInt8 = 2
    static let selectiveAcknowledgement: UInt8 = 3
    static let heartbeat: UInt8 = 4
    static let heartbeatAcknowledgement: UInt8 = 5
    static let abort: UInt8 = 6
    static let shutdown: UInt8 = 7
    static let shutdownAcknowledgement: UInt8 = 8
    static let error: UInt8 = 9
    static let cookieEcho: UInt8 = 10
    static let cookieAcknowledgement: UInt8 = 11
    static let shutdownComplete: UInt8 = 14
    static let reconfiguration: UInt8 = 130
    static let forwardTSN: UInt8 = 192
}

/// Parameter types (RFC 9260 §3.3.2, RFC 3758 §3.1, RFC 5061 §4.2.7, RFC 6525 §4).
enum SCTPParameterType {
    static let heartbeatInformation: UInt16 = 1
    static let stateCookie: UInt16 = 7
    static let unrecognised: UInt16 = 8
    static let outgoingReset: UInt16 = 13
    static let incomingReset: UInt16 = 14
    static let associationReset: UInt16 = 15
    static let resetResponse: UInt16 = 16
    static let addOutgoingStreams: UInt16 = 17
    static let addIncomingStreams: UInt16 = 18
    static let supportedExtensions: UInt16 = 0x8008
    static let forwardTSNSupported: UInt16 = 0xC000
}

/// The causes of ERROR and ABORT that this code sends (RFC 9260 §3.3.10).
enum SCTPErrorCause {
    static let invalidStream: UInt16 = 1
    static let staleCookie: UInt16 = 3
    static let outOfResource: UInt16 = 4
    static let unrecognisedChunk: UInt16 = 6
    static let noUserData: UInt16 = 9
    static let userAbort: UInt16 = 12
    static let protocolViolation: UInt16 = 13
}

/// One DATA chunk (RFC 9260 §3.3.1).
struct SCTPDataChunk: Equatable {
    struct Flags: OptionSet, Equatable {
        let rawValue: UInt8
        static let ending = Flags(rawValue: 1)
        static let beginning = Flags(rawValue: 2)
        static let unordered = Flags(rawValue: 4)
        /// The sender asks for an acknowledgement at once (RFC 7053).
        static let immediate = Flags(rawValue: 8)
    }

    static let headerSize = 16

    var flags: Flags
    var tsn: UInt32
    var stream: UInt16
    var sequence: UInt16
    var payloadProtocol: UInt32
    var payload: ByteBuffer
}

/// INIT and INIT ACK (RFC 9260 §3.3.2 and §3.3.3).
struct SCTPInitiation: Equatable {
    var tag: UInt32
    var window: UInt32
    var outgoingStreams: UInt16
    var incomingStreams: UInt16
    var tsn: UInt32
    var supportsForwardTSN = true
    var supportsReconfiguration = true

    /// Only in INIT ACK.
    var cookie: ByteBuffer?

    /// Unknown parameters that ask to be reported, each complete.
    var unrecognised: [ByteBuffer] = []
}

/// SACK (RFC 9260 §3.3.4).
struct SCTPAcknowledgement: Equatable {
    struct GapBlock: Equatable {
        var start: UInt16
        var end: UInt16
    }

    var cumulativeTSN: UInt32
    var window: UInt32
    var gaps: [GapBlock] = []
    var duplicates: [UInt32] = []
}

/// FORWARD TSN (RFC 3758 §3.2).
struct SCTPForwardTSN: Equatable {
    struct Stream: Equatable {
        var stream: UInt16
        var sequence: UInt16
    }

    var newCumulativeTSN: UInt32
    var streams: [Stream] = []
}

/// One parameter of RE-CONFIG (RFC 6525 §4).
enum SCTPReconfiguration: Equatable {
    enum Result: UInt32 {
        case nothingToDo = 0
        case performed = 1
        case denied = 2
        case wrongStreamNumber = 3
        case alreadyInProgress = 4
        case badSequenceNumber = 5
        case inProgress = 6
    }

    /// An empty list of streams means all of them.
    case outgoingReset(request: UInt32, response: UInt32, lastTSN: UInt32, streams: [UInt16])
    case response(sequence: UInt32, result: UInt32)
    /// Any other request; it is denied.
    case other(request: UInt32)
}
