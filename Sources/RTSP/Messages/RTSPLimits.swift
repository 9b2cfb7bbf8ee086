/// The sizes that a parser accepts.
package struct RTSPLimits: Sendable, Hashable {
    /// The longest line of a head, in bytes, without its end.
    package var lineSize = 4_096
    /// The largest number of header fields.
    package var fieldCount = 64
    /// The largest size of all lines of a head, in bytes.
    package var headSize = 16_384
    /// The largest body, in bytes.
    package var bodySize: Int

    package init(bodySize: Int) { self.bodySize = bodySize }

    /// A camera's responses: a session description has at most 64 KiB.
    package static let client = RTSPLimits(bodySize: 65_536)
    /// A player's requests, whose bodies are not used.
    package static let server = RTSPLimits(bodySize: 4_096)
}
