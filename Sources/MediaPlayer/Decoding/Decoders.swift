public import IoTCore
public import MediaCodec

/// Decodes one video track. Called on the decoding thread.
public protocol PictureDecoder: AnyObject {
    /// Takes one access unit and returns the pictures that it completes, in presentation order.
    ///
    /// - Parameter isShown: false for a picture that is not shown but that others may reference.
    /// - Throws: if the access unit cannot be decoded; decoding restarts at the next key frame. Users of the channel
    ///   get error 21030.
    func decode(_ frame: MediaFrame, isShown: Bool) throws(IoTError) -> [VideoPicture]

    /// Returns the pictures that wait for reordering.
    func flush() -> [VideoPicture]

    /// Discards all state: the next frame is a key frame.
    func reset()
}

/// Decodes one audio track. Called on the decoding thread.
public protocol SoundDecoder: AnyObject {
    /// Returns the frame's sound. If frames before it are missing, sound that replaces them may come first.
    ///
    /// - Throws: if the frame cannot be decoded; decoding restarts at the next frame. Users of the channel get error
    ///   21030.
    func decode(_ frame: MediaFrame) throws(IoTError) -> [AudioBuffer]
}

extension VideoDecoder: PictureDecoder {}
extension AudioDecoder: SoundDecoder {}
