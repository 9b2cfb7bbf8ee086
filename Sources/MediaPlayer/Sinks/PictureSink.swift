public import IoTCore
public import MediaCodec
public import NIOCore

/// Takes decoded pictures in the order of showing, on a thread of its own. The one built in makes raw video.
///
/// While it is busy its pictures wait, up to a bound; then whole ones are dropped. It holds back nobody else.
public protocol PictureSink: AnyObject {
    /// False ends the sink: it has what it wanted, or nobody reads it any more.
    func take(_ picture: VideoPicture) -> Bool
    /// No more pictures will come.
    func end(_ reason: IoTError?)
}

/// Takes decoded sound, on a thread of its own, as a `PictureSink` does. The one built in makes raw sound.
public protocol SoundSink: AnyObject {
    /// False ends the sink.
    func take(_ sound: AudioBuffer, presentAt: NIODeadline) -> Bool
    /// A picture came out of the decoder, which is shown then. False ends the sink. Default: nothing is done.
    func pass(pictureAt presentAt: NIODeadline) -> Bool
    /// No more sound will come.
    func end(_ reason: IoTError?)
}

extension SoundSink {
    public func pass(pictureAt presentAt: NIODeadline) -> Bool { true }
}

extension SinkQueue<VideoPicture> {
    convenience init(
        name: String, _ target: Target, parts: PlayerParts, onLoss: @escaping @Sendable () -> Void,
        pictures make: @escaping @Sendable () -> any PictureSink
    ) {
        self.init(name: name, target, parts: parts, onLoss: onLoss) {
            let sink = make()
            return Work(take: { sink.take($0) }, end: { sink.end($0) })
        }
    }
}

/// What a sink of sound is given.
enum HeardMedia: Sendable {
    case sound(AudioBuffer, presentAt: NIODeadline)
    case picture(presentAt: NIODeadline)
}

extension SinkQueue<HeardMedia> {
    convenience init(
        name: String, _ target: Target, parts: PlayerParts, onLoss: @escaping @Sendable () -> Void,
        sounds make: @escaping @Sendable () -> any SoundSink
    ) {
        self.init(name: name, target, parts: parts, onLoss: onLoss) {
            let sink = make()
            return Work(
                take: { media in
                    switch media {
                    case .sound(let sound, let presentAt): sink.take(sound, presentAt: presentAt)
                    case .picture(let presentAt): sink.pass(pictureAt: presentAt)
                    }
                }, end: { sink.end($0) })
        }
    }
}
