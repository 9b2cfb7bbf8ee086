public import IoTCore

/// Reads a camera's frames: `MediaDemuxer` from a file, `CaptureReader` from a capture device, or an RTSP client.
///
/// Blocks its caller: use it on its own thread, and only from one thread at a time.
public protocol SourceReader: AnyObject {
    /// The video track's current parameters.
    var video: VideoParameters? { get }

    /// The audio track's current parameters.
    var audio: AudioParameters? { get }

    /// The source's tracks with unsupported codecs: "audio mp3".
    var unsupportedTracks: [String] { get }

    /// The number of pictures of the source that were dropped.
    var droppedPictures: Int { get }

    /// The next frame, with each track in decoding order; nil at the end of the source.
    func readFrame() throws(IoTError) -> MediaFrame?

    /// Starts a file again from its first frame.
    func rewind() throws(IoTError)
}

extension SourceReader {
    /// Always 0: drops are not counted for files and RTSP.
    public var droppedPictures: Int { 0 }
}

extension MediaDemuxer: SourceReader {}
