import NIOCore

/// A parser of input from strangers or peers.
///
/// A new target is a file in this folder that makes a `FuzzTarget`, and its name in `all`. libFuzzer runs it (`make
/// fuzz`), and the tests replay the files of its name in Corpora.
struct FuzzTarget: Sendable {
    let name: String

    /// Throws if a property does not hold; a refused input is not a failure.
    let check: @Sendable ([UInt8]) throws -> Void

    /// The parser whose cost must be linear in the input's size; `nil` if that is not a property.
    let cost: ReadingCost?

    static let all =
        [
            .stun, .turn, .rtp, .rtcp, .sdp, .candidate, .h264, .h265, .aac, .mpegAudio, .receiver, .srtp, .dtls, .dcep,
            .sctp, .data, .json, .envelope, .enrolment, .http, .whep, .dns, .provisioning, .plaintext, .qr, .discovery,
            .rtspRequest, .rtspResponse, .rtspFrames, .rtspDescription, .rtspDigest, .rtspServer, .recording,
            .release, .lan,
        ] as [FuzzTarget]

    init(_ name: String, cost: ReadingCost? = nil, check: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.check = check
        self.cost = cost
    }
}

/// A property that does not hold.
struct FuzzFailure: Error, CustomStringConvertible {
    let description: String
}

/// Fails the input when the condition is false.
func require(_ condition: Bool, _ property: @autoclosure () -> String) throws {
    guard condition else { throw FuzzFailure(description: property()) }
}

/// Splits an input into datagrams: two bytes in front of each are its length, cut to the rest of the input.
func datagrams(_ input: [UInt8], maximum: Int = 64) -> [ByteBuffer] {
    var rest = ByteBuffer(bytes: input)
    var datagrams: [ByteBuffer] = []
    while datagrams.count < maximum, let length = rest.readInteger(as: UInt16.self) {
        let count = min(Int(length) & 0x7FF, rest.readableBytes)
        guard let datagram = rest.readSlice(length: count) else { break }
        // Each has its own storage, so that the sanitizer notices reads beyond its end.
        datagrams.append(ByteBuffer(bytes: datagram.readableBytesView))
    }
    return datagrams
}
