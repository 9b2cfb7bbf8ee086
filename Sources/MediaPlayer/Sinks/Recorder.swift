public import IoTCore
public import NIOCore

/// Records coded frames. The one built in makes fragmented MP4.
///
/// Its calls come one at a time, on the player's event loop: none may block.
public protocol Recorder: AnyObject, Sendable {
    /// True when it takes no more.
    var isClosed: Bool { get }

    /// True when nothing more can be recorded before a key frame, for which the source is then asked. Default: false.
    var needsKeyFrame: Bool { get }

    /// Takes a frame in decoding order; the first one is a key frame, where there is a picture.
    ///
    /// - Parameters:
    ///   - senderTime: its `pts` on the clock that both tracks share, µs.
    ///   - presentAt: when its picture or sound is due.
    func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline)

    /// No more frames will come.
    func end(_ reason: IoTError?)
}

extension Recorder {
    public var needsKeyFrame: Bool { false }
}
