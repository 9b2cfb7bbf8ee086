import NIOCore

/// Something that reads what a stranger or a peer sends.
///
/// A new one is a file beside this one that makes a `FuzzTarget`, and its name in `all`. libFuzzer runs it (`make
/// fuzz`), and the tests replay what is in Corpora under its name.
struct FuzzTarget: Sendable {
    let name: String

    /// Throws when a property does not hold; an input that is refused is no failure.
    let check: @Sendable ([UInt8]) throws -> Void

    /// What must cost no more than its input's size; `nil` where that is not a property.
    let cost: ReadingCost?

    static let all =
        [
            .stun, .turn, .rtp, .rtcp, .sdp, .candidate, .h264, .h265, .aac, .receiver, .srtp, .dtls, .dcep, .sctp,
            .json, .envelope, .enrolment, .http, .whep, .dns, .provisioning, .qr, .discovery,
            .rtspRequest, .rtspResponse, .rtspFrames, .rtspDescription, .rtspDigest, .rtspServer,
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

/// An input as several: each datagram has two bytes in front, its length, cut to what is there.
func datagrams(_ input: [UInt8], maximum: Int = 64) -> [ByteBuffer] {
    var rest = ByteBuffer(bytes: input)
    var datagrams: [ByteBuffer] = []
    while datagrams.count < maximum, let length = rest.readInteger(as: UInt16.self) {
        let count = min(Int(length) & 0x7FF, rest.readableBytes)
        guard let datagram = rest.readSlice(length: count) else { break }
        // A storage of its own, so that reading past its end is noticed.
        datagrams.append(ByteBuffer(bytes: datagram.readableBytesView))
    }
    return datagrams
}
