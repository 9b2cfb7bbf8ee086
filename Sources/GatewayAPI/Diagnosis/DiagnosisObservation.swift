public import IoTCore

/// What a client has seen of a test play, from which a `Diagnosis` is made.
public struct DiagnosisObservation: Sendable {
    /// The failure to open the channel, or the one that ended it.
    public var failure: IoTError?
    /// The channel at the end of the play; `nil` if it could not be opened.
    public var channel: ChannelDescription?
    /// Pictures received per second, after older pictures have come at once; `nil` if it was not measured.
    public var pictureRate: Double?
    /// The largest sample of the decoded sound, from 0 to 1; `nil` without sound.
    public var loudest: Double?

    public init(
        failure: IoTError? = nil, channel: ChannelDescription? = nil, pictureRate: Double? = nil,
        loudest: Double? = nil
    ) {
        self.failure = failure
        self.channel = channel
        self.pictureRate = pictureRate
        self.loudest = loudest
    }
}
