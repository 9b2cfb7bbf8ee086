import IoTCore
import NIOCore

/// The tracks of a rendition. Frames become packets only when somebody asks for a track: most cameras are not watched for
/// most of the time.
struct RenditionTracks {
    private(set) var video: CameraTrack?
    private(set) var audio: CameraTrack?
    private var unpacketized = UnpacketizedFrames()

    init() {}

    init(video: VideoParameters?, audio: AudioParameters?) {
        self.video = video.map {
            CameraTrack(parameters: .video($0), payloadType: CameraStream.Section.videoPayloadType)
        }
        self.audio = audio.map {
            CameraTrack(parameters: .audio($0), payloadType: CameraStream.Section.audioPayloadType)
        }
    }

    /// A source with the same codecs continues in the same tracks; sizes may change in band.
    func canContinue(video: VideoParameters?, audio: AudioParameters?) -> Bool {
        func codec(_ track: CameraTrack?) -> VideoCodec? {
            if case .video(let parameters) = track?.parameters { parameters.codec } else { nil }
        }
        guard self.video != nil || self.audio != nil else { return false }
        return codec(self.video) == video?.codec && audioParameters == audio
    }

    var audioParameters: AudioParameters? {
        if case .audio(let parameters) = audio?.parameters { parameters } else { nil }
    }

    /// - Parameter isWatched: whether a viewer may need what came before this key frame.
    /// - Returns: why a frame became no packets.
    mutating func append(
        _ frame: MediaFrame, at now: NIODeadline, isWatched: @autoclosure () -> Bool
    ) -> IoTError? {
        switch frame.kind {
        case .video:
            guard video != nil else { return nil }
            video?.measure(frame)
            if frame.isKeyFrame, !isWatched() {
                unpacketized.forget(before: frame)
                video?.trim(at: now)
                audio?.trim(at: now)
            }
        case .audio:
            guard audio != nil else { return nil }
            audio?.measure(frame)
        }
        unpacketized.append(frame, at: now)
        return unpacketized.isFull ? packetize() : nil
    }

    /// - Returns: why a frame became no packets.
    mutating func packetize() -> IoTError? {
        guard !unpacketized.isEmpty else { return nil }
        var failure: IoTError?
        for (frame, time) in unpacketized.takeAll() {
            do throws(IoTError) {
                switch frame.kind {
                case .video: try video?.packetize(frame, at: time)
                case .audio: try audio?.packetize(frame, at: time)
                }
            } catch {
                failure = error
            }
        }
        return failure
    }
}
