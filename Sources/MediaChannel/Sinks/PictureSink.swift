import IoTCore
import MediaCodec

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
    func take(_ sound: AudioBuffer, report: (SinkReport) -> Void) -> Bool
    func end(_ reason: IoTError?)
}

/// What a sink tells of its reader.
enum SinkReport: Sendable {
    /// The reader was too slow and this many whole frames were dropped.
    case slowReader(frames: Int)
}
