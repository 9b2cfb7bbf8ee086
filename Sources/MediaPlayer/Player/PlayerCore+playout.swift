import IoTCore
package import NIOCore

// Releases due frames and handles what becomes of them.
extension PlayerCore {
    /// Passes on the frames that are due and sets the next timeout.
    func release(at now: NIODeadline) {
        nextTimeout = hasEnded ? nil : source.nextTimeout
        while let output = playout?.poll() {
            switch output {
            case .release(_, let frame, let presentAt, let isLate):
                release(frame, presentAt: presentAt, isLate: isLate, at: now)
            case .lost(let kind):
                counts.count { $0.framesDropped(kind, .lost) }
                if kind == .video {
                    stage?.skipToKeyFrame()
                    group.removeAll()
                }
            case .requestKeyFrame:
                source.requestKeyFrame(at: now)
            case .want(let pts):
                source.want(through: pts, at: now)
                hasAsked = !hasEnded
            case .finished:
                handle(.finished, at: now)
            case .conceal:
                break
            case .discontinuity(let kind, let reason):
                if kind == .video { stage?.drain() }
                breaks[kind] = reason
            case .stalled(let tolerance, let delay):
                handle(.starved(tolerance: tolerance, delay: delay), at: now)
            case .resumed, .reachedLiveEdge:
                break
            case .timeout(let deadline):
                if !hasEnded { nextTimeout = min(nextTimeout ?? deadline, deadline) }
                return
            }
        }
    }

    private func release(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool, at now: NIODeadline) {
        if let reason = breaks.removeValue(forKey: frame.kind) {
            onEvent(
                .discontinuity(frame.kind, reason, pts: frame.pts, frame.kind == .video ? playout?.video : nil))
        }
        if stage?.decode(
            frame, presentAt: presentAt, isLate: isLate, generation: generation, rotation: rotation) == false
        {
            counts.count { $0.framesDropped(frame.kind, .slowReader) }
            if frame.kind == .video { playout?.frameLost(.video, at: now) }
        } else {
            dump(frame, at: .intoDecoder)
        }
        taps(PlayedFrame(frame: frame, presentAt: presentAt, isLate: isLate))
        group.append(frame, at: presentAt)
        for index in recordings.indices {
            recordings[index].take(frame, presentAt: presentAt) { playout?.senderTime($0.kind, pts: $0.pts) }
            if recordings[index].asksForKeyFrame(at: now) { source.requestKeyFrame(at: now) }
        }
        recordings.removeAll { $0.recorder.isClosed }
    }

    /// Handles what the decoding thread has reported since the last call.
    package func takeDecodeEvents(at now: NIODeadline) {
        for event in decodeEvents.take(at: now) { handle(event, at: now) }
    }

    private func handle(_ event: DecodeEvent, at now: NIODeadline) {
        switch event {
        case .picture(let picture):
            note(.decoded, .video, at: picture.decodedAt, StageFacts.picture(picture, header: video))
            counts.pictureDecoded(pts: picture.pts)
            counts.count {
                $0.frameDecoded(.video, isKeyFrame: picture.isKeyFrame, time: picture.decodeTime)
                $0.pictureSize(width: picture.width, height: picture.height)
            }
            guard picture.isShown else {
                counts.count { $0.framesDropped(.video, .late) }
                return
            }
            // The delay may have changed since the frame went to the decoder.
            let presentAt = playout?.presentTime(ofReleasedPicture: picture.pts)
            let senderTime = playout?.senderTime(.video, pts: picture.pts)
            let presented = max(presentAt ?? picture.presentedAt, picture.decodedAt)
            counts.count { $0.framePresented(.video, senderMicroseconds: senderTime, at: presented) }
            noteShown(.video, pts: picture.pts, at: presented)
            // It was on its way when the source stopped to send pictures.
            if !expectsPictures { counts.count { $0.presentationPaused() } }
            handle(.frameShown, at: now)
        case .sound(let pts, let planned, let isLate, let decodedAt, let bytes):
            // Not the time of this call: several sounds are reported together.
            note(.decoded, .audio, at: decodedAt, ["pts": .integer(pts), "S": .integer(Int64(bytes))])
            counts.count { $0.frameDecoded(.audio) }
            guard !isLate else {
                counts.count { $0.framesDropped(.audio, .late) }
                return
            }
            let senderTime = playout?.senderTime(.audio, pts: pts)
            // A sound that was decoded too late is heard when it leaves the decoder.
            let presentAt = max(planned, decodedAt)
            counts.count { $0.framePresented(.audio, senderMicroseconds: senderTime, at: presentAt) }
            noteShown(.audio, pts: pts, at: presentAt)
            if video == nil || !expectsPictures { handle(.frameShown, at: now) }
        case .corrupt(let kind):
            counts.count { $0.framesDropped(kind, .corrupt) }
        case .partFailed(let part, let error):
            onEvent(
                .warning(
                    IoTError(.notImplemented, "\(part) failed: \(error.message)", underlying: error), use: nil))
        case .sinkFailed(let error, let use):
            onEvent(.warning(error, use: use))
        case .slowReader(let kind, let use):
            onEvent(
                .warning(
                    IoTError(
                        .slowReader, "the reader of \(kind.words) was too slow and whole frames were dropped"),
                    use: use))
        case .decodersClosed, .sinksClosed: noteClosed(event, at: now)
        }
    }

    func noteClosed(_ event: DecodeEvent, at now: NIODeadline) {
        switch event {
        case .decodersClosed: note(.decodersClosed, at: now)
        case .sinksClosed: note(.sinksClosed, at: now)
        default: break
        }
    }
}
