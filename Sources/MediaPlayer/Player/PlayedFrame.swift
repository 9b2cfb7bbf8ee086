package import IoTCore
package import NIOCore

/// A frame that goes to the decoder.
package struct PlayedFrame: Sendable {
    package let frame: MediaFrame
    /// When its picture or sound is due.
    package let presentAt: NIODeadline
    /// The frame is decoded, but not shown or heard.
    package let isLate: Bool
}
