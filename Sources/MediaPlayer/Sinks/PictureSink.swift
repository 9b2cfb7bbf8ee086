public import IoTCore
public import MediaCodec
public import NIOCore

/// Takes decoded pictures in presentation order, on its own thread. The built-in sink makes raw video.
///
/// While it is busy, pictures wait up to a limit; then whole pictures are dropped. It delays no other sink.
public protocol PictureSink: AnyObject {
    /// Returns false to end the sink: it has enough, or its reader has left.
    func take(_ picture: VideoPicture) -> Bool
    /// No more pictures will come.
    func end(_ reason: IoTError?)
}

/// Takes decoded sound on its own thread, like a `PictureSink`. The built-in sink makes raw sound.
public protocol SoundSink: AnyObject {
    /// Returns false to end the sink.
    func take(_ sound: AudioBuffer, presentAt: NIODeadline) -> Bool
    /// A decoded picture will be shown at `presentAt`. Returns false to end the sink. Default: does nothing.
    func pass(pictureAt presentAt: NIODeadline) -> Bool
    /// No more sound will come.
    func end(_ reason: IoTError?)
}

extension SoundSink {
    public func pass(pictureAt presentAt: NIODeadline) -> Bool { true }
}

extension SinkQueue<VideoPicture> {
    convenience init(
        name: String, _ target: Target, parts: PlayerParts, view: PictureView = PictureView(),
        onLoss: @escaping @Sendable () -> Void, pictures make: @escaping @Sendable () -> any PictureSink
    ) {
        self.init(name: name, target, parts: parts, leastBytes: view.leastBytes, onLoss: onLoss) {
            let sink = make()
            return Work(
                take: { picture in
                    do throws(IoTError) {
                        return sink.take(try view.show(picture))
                    } catch {
                        sink.end(error)
                        return false
                    }
                }, end: { sink.end($0) })
        }
    }
}

/// The input of a sound sink.
enum HeardMedia: Sendable {
    case sound(AudioBuffer, presentAt: NIODeadline)
    case picture(presentAt: NIODeadline)
}

extension SinkQueue<HeardMedia> {
    convenience init(
        name: String, _ target: Target, parts: PlayerParts, presentation: Presentation? = nil,
        onLoss: @escaping @Sendable () -> Void, sounds make: @escaping @Sendable () -> any SoundSink
    ) {
        self.init(name: name, target, parts: parts, onLoss: onLoss) {
            let sink = make()
            var fader = SoundFader()
            return Work(
                take: { media in
                    switch media {
                    case .sound(let sound, let presentAt):
                        // Sound is given before it is due. What a slow sink takes late was due earlier.
                        let now = min(presentAt, parts.clock())
                        let heard = presentation?.present(sound, fader: &fader, at: now) ?? sound
                        return sink.take(heard, presentAt: presentAt)
                    case .picture(let presentAt): return sink.pass(pictureAt: presentAt)
                    }
                }, end: { sink.end($0) })
        }
    }
}
