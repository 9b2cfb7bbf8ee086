public import IoTCore
public import MediaCodec

/// Changes each decoded picture before it is shown: for snapshots, raw video and every other sink. Called on the decoding
/// thread.
///
/// A picture may get another size; its pts must stay.
public protocol PictureProcessor: AnyObject {
    /// - Throws: if the picture cannot be processed; it is lost, and users of the channel get error 21030.
    func process(_ picture: VideoPicture) throws(IoTError) -> VideoPicture
}
