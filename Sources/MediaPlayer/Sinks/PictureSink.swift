public import IoTCore
public import MediaCodec
public import NIOCore

/// Takes decoded pictures on the decoding thread, in the order of showing. Those built in make snapshots and raw video.
public protocol PictureSink: AnyObject {
    /// False as soon as nobody waits for its pictures any more.
    var isWanted: Bool { get }
    /// False ends the sink: it has what it wanted, or nobody reads it any more.
    func take(_ picture: VideoPicture, report: (SinkReport) -> Void) -> Bool
    /// No more pictures will come.
    func end(_ reason: IoTError?)
}

extension PictureSink {
    public var isWanted: Bool { true }
}

/// Takes decoded sound on the decoding thread. The one built in makes raw sound.
public protocol SoundSink: AnyObject {
    /// False ends the sink.
    func take(_ sound: AudioBuffer, presentAt: NIODeadline, report: (SinkReport) -> Void) -> Bool
    /// A picture came out of the decoder, which is shown then. False ends the sink. Default: nothing is done.
    func pass(pictureAt presentAt: NIODeadline, report: (SinkReport) -> Void) -> Bool
    /// No more sound will come.
    func end(_ reason: IoTError?)
}

extension SoundSink {
    public func pass(pictureAt presentAt: NIODeadline, report: (SinkReport) -> Void) -> Bool { true }
}

/// What a sink tells of its reader.
public enum SinkReport: Sendable {
    /// The reader was too slow and this many whole frames were dropped.
    case slowReader(frames: Int)
}
