import IoTCore
import MediaCodec

/// Takes decoded pictures on the decoding thread.
protocol PictureSink: AnyObject {
    /// False ends the sink: it has what it wanted, or nobody reads it any more.
    func take(_ picture: VideoPicture, report: (SinkReport) -> Void) -> Bool
    /// No more pictures will come.
    func end(_ reason: IoTError?)
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
