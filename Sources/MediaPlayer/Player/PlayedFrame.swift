package import IoTCore
package import NIOCore

/// A frame that goes to the decoder.
package struct PlayedFrame: Sendable {
    package let frame: MediaFrame
    /// When its picture or sound is due.
    package let presentAt: NIODeadline
    /// It is decoded, but neither shown nor heard.
    package let isLate: Bool
}
