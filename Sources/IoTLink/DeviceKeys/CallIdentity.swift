import Crypto
public import IoTCore

/// The call that a session description is for. Its author signs the description together with it, so that nobody can
/// use the description in another call.
///
/// The caller chooses a new random `session` for each call, and an answer is signed together with the hash of its offer.
/// Therefore a description of an earlier call is never valid again, and the time need not be signed: a box without a
/// battery clock may not know it.
public struct CallIdentity: Sendable, Hashable {
    /// The side that makes a description.
    public enum Author: String, Sendable, Hashable, CaseIterable {
        case caller
        case device
    }

    /// Separates these signatures from others that the same key makes.
    private static let label = "iotvideod call description 1"

    public var device: DeviceID
    /// The calling account.
    public var caller: Principal
    /// Visible characters of ASCII (`CallRequest`).
    public var session: String
    public var kind: ChannelKind
    public var source: ChannelSource

    public init(device: DeviceID, caller: Principal, session: String, kind: ChannelKind, source: ChannelSource) {
        self.device = device
        self.caller = caller
        self.session = session
        self.kind = kind
        self.source = source
    }

    /// The text that the author of a description signs. Its lines contain no text of a peer except `session`, which has
    /// no spaces and line ends, so that two calls never have the same text.
    ///
    /// - Parameters:
    ///   - description: the SDP, with its fingerprints and its role in the DTLS handshake.
    ///   - offer: the other side's SDP, if `description` is the answer to it.
    public func statement(of description: String, by author: Author, answering offer: String? = nil) -> String {
        """
        \(Self.label)
        author \(author.rawValue)
        device \(device)
        caller \(caller)
        session \(session)
        kind \(kind.name)
        source \(source)
        offer \(offer.map(Self.hash) ?? "-")
        description \(Self.hash(description))

        """
    }

    private static func hash(_ text: String) -> String {
        Hex.encode(SHA256.hash(data: Array(text.utf8)))
    }
}
