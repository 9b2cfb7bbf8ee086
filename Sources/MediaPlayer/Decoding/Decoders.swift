public import IoTCore
public import MediaCodec

/// Decodes one video track, on the decoding thread.
public protocol PictureDecoder: AnyObject {
    /// Takes one access unit; gives the pictures that are complete by it, in the order of showing.
    ///
    /// - Parameter isShown: false for a picture that nobody will see, which others may refer to.
    /// - Throws: for what cannot be decoded; decoding starts again at the next key frame. Users
    ///   of the channel are told with 21030.
    func decode(_ frame: MediaFrame, isShown: Bool) throws(IoTError) -> [VideoPicture]

    /// The pictures that wait for others.
    func flush() -> [VideoPicture]

    /// Forgets all: the next frame is a key frame.
    func reset()
}

/// Decodes one audio track, on the decoding thread.
public protocol SoundDecoder: AnyObject {
    /// - Throws: for what cannot be decoded; decoding starts again at the next frame. Users of
    ///   the channel are told with 21030.
    func decode(_ frame: MediaFrame) throws(IoTError) -> [AudioBuffer]
}

extension VideoDecoder: PictureDecoder {}
extension AudioDecoder: SoundDecoder {}
