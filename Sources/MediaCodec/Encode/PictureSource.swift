/// Where the pictures come from that a program shows in a live call, for example a camera of its own. No call blocks.
public protocol PictureSource: AnyObject, Sendable {
    /// How often `take` is called, per second: 1 to 120.
    var frameRate: Double { get }

    /// The newest picture; `nil` if none has come since the last call. Its pts is not used.
    func take() -> VideoPicture?

    /// `nil` while more pictures may come.
    var end: CaptureEnd? { get }

    /// Ends the source. A second call does nothing.
    func close()
}

extension PictureSource {
    /// That of the IoT video SDK.
    public var frameRate: Double { 16 }
}
