public import IoTCore
public import NIOCore

/// Records coded frames. The one built in makes fragmented MP4.
///
/// Its calls come one at a time, on the player's event loop: none may block.
public protocol Recorder: AnyObject, Sendable {
    /// True when it takes no more.
    var isClosed: Bool { get }

    /// Takes a frame in decoding order; the first one is a key frame, where there is a picture.
    ///
    /// - Parameters:
    ///   - senderTime: its `pts` on the clock that both tracks share, µs.
    ///   - presentAt: when its picture or sound is due.
    func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline)

    /// No more frames will come.
    func end(_ reason: IoTError?)
}
