import IoTCore
import MediaCodec
import NIOCore

/// Takes decoded pictures on the decoding thread.
protocol PictureSink: AnyObject {
    /// False as soon as nobody waits for its pictures any more.
    var isWanted: Bool { get }
    /// False ends the sink: it has what it wanted, or nobody reads it any more.
    func take(_ picture: VideoPicture, report: (SinkReport) -> Void) -> Bool
    /// No more pictures will come.
    func end(_ reason: IoTError?)
}

extension PictureSink {
    var isWanted: Bool { true }
}

/// Takes decoded sound on the decoding thread.
protocol SoundSink: AnyObject {
    /// False ends the sink.
    func take(_ sound: AudioBuffer, presentAt: NIODeadline, report: (SinkReport) -> Void) -> Bool
    /// A picture came out of the decoder, which is shown then. False ends the sink.
    func pass(pictureAt presentAt: NIODeadline, report: (SinkReport) -> Void) -> Bool
    /// No more sound will come.
    func end(_ reason: IoTError?)
}

/// What a sink tells of its reader.
enum SinkReport: Sendable {
    /// The reader was too slow and this many whole frames were dropped.
    case slowReader(frames: Int)
}
