public import IoTCore
public import NIOCore

/// Records coded frames. The built-in recorder makes fragmented MP4.
///
/// Its methods are called one at a time, on the player's event loop: they must not block.
public protocol Recorder: AnyObject, Sendable {
    /// True when the recorder takes no more frames.
    var isClosed: Bool { get }

    /// True if nothing more can be recorded before a key frame; the source is then asked for one. Default: false.
    var needsKeyFrame: Bool { get }

    /// Takes a frame in decoding order. If there is video, the first frame is a key frame.
    ///
    /// - Parameters:
    ///   - senderTime: its `pts` on the clock that both tracks share, µs.
    ///   - presentAt: when its picture or sound is due.
    func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline)

    /// The pictures of the following frames must be turned so far. Default: does nothing.
    func turned(_ rotation: PictureRotation)

    /// No more frames will come.
    func end(_ reason: IoTError?)
}

extension Recorder {
    public var needsKeyFrame: Bool { false }
    public func turned(_ rotation: PictureRotation) {}
}
