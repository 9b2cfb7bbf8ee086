public import IoTCore

/// Encodes the pictures that a program shows in a live call as H.264. Called on a thread of its own.
public protocol ShownPictureEncoder: AnyObject {
    /// - Parameter time: The picture's time in µs, later than that of the picture before it.
    /// - Returns: One access unit: NAL units that follow their length in 4 bytes, without an order of presentation of its
    ///   own (B-frames). A key frame begins with its parameter sets. `nil` for a picture that is left out.
    func encode(_ picture: VideoPicture, at time: Int64) throws(IoTError) -> MediaFrame?
}
