package import IoTCore
import MediaCodec
import NIOCore

/// Makes segments of a camera's frames, without I/O: when they begin and end, and when each frame was captured.
///
/// A segment ends at the key frame after its length is reached, where the camera's parameters change, and where a run
/// ends: the camera's clock jumped, or the wall clock was set. A file has one rotation. Not Sendable.
package final class CameraRecording {
    /// What a disk does for the camera, in this order.
    package enum Output: Sendable {
        case begin(SegmentOpening)
        case append(StoredFragment)
        case end(SegmentEnding?)
    }

    private struct Open {
        var writer: SegmentWriter
        let start: Int64
        let length: SegmentLength
    }

    /// Why the next segments are recorded.
    package var reason = RecordingReason.continuous
    /// How far pictures must be turned to be upright. Another one begins a segment with the next key frame.
    package var rotation = PictureRotation.none {
        didSet { tracks.video?.rotation = rotation }
    }
    /// Why the camera's sound, or all of it, is not recorded.
    package private(set) var failure: IoTError?

    private let camera: CameraNumber
    private let length: SegmentLength
    private let title: String
    private let hasSound: Bool
    private var clock: RunClock
    private var open: Open?
    private var tracks = SegmentTracks() {
        didSet { (hasVideoTrack, hasAudioTrack) = (tracks.video != nil, tracks.audio != nil) }
    }
    // Asked for each frame; to ask `tracks` copies its parameters.
    private var hasVideoTrack = false
    private var hasAudioTrack = false
    private var sound: RecordedSound?
    private var isFirst = true
    private var run: RunFacts?
    /// Begins with the next segment.
    private var nextRun: RunFacts?
    /// The wall clock's lead over the camera's clock: now, and in the open segment.
    private var lead: Int64 = 0
    private var segmentLead: Int64 = 0

    /// - Parameters:
    ///   - boot: the kernel's id of this boot.
    ///   - title: of the files.
    ///   - hasSound: whether the camera's sound is recorded.
    package init(
        _ camera: CameraNumber, boot: String, length: SegmentLength = SegmentLength(), title: String = "",
        hasSound: Bool = true
    ) {
        self.camera = camera
        self.length = length
        self.title = title
        self.hasSound = hasSound
        clock = RunClock(boot: boot)
    }

    /// The source was opened, for the first time or again. Sound that cannot be stored is left out.
    package func opened(video: VideoParameters?, audio: AudioParameters?) -> [Output] {
        failure = nil
        let outputs = tracks.audio == nil && tracks.video == nil ? [] : end()
        sound = nil
        if hasSound, let audio {
            do throws(IoTError) {
                let recorded = try RecordedSound(audio)
                _ = try SegmentWriter(tracks: SegmentTracks(audio: recorded.parameters), start: 0)
                sound = recorded
            } catch {
                failure = error
            }
        }
        tracks = SegmentTracks(video: video, audio: sound?.parameters)
        tracks.video?.rotation = rotation
        return outputs
    }

    /// - Parameters:
    ///   - now: both clocks when the frame arrived.
    ///   - isSynchronised: whether the wall clock is (adjtimex(2)).
    package func take(_ frame: MediaFrame, now: Moment, isSynchronised: Bool) -> [Output] {
        var outputs: [Output] = []
        take(frame, now: now, isSynchronised: isSynchronised, into: &outputs)
        return outputs
    }

    /// Takes frames as they arrived.
    package func take(_ frames: [ArrivedFrame]) -> [Output] {
        var outputs: [Output] = []
        for arrived in frames {
            take(arrived.frame, now: arrived.now, isSynchronised: arrived.isSynchronised, into: &outputs)
        }
        return outputs
    }

    /// Ends the open segment; the next key frame begins another. Call it when the source is lost or nothing more is
    /// recorded.
    package func end() -> [Output] {
        guard let fragment = open?.writer.flush() else { return close() }
        return [.append(StoredFragment(fragment))] + close()
    }

    /// Forgets all that is in no fragment yet, and ends the open segment.
    package func forget() -> [Output] {
        if let sound, !sound.isUnchanged {
            do throws(IoTError) {
                self.sound = try sound.restarted()
            } catch {
                failure = error
                self.sound = nil
                tracks.audio = nil
            }
        }
        return close()
    }

    // MARK: Private

    private func close() -> [Output] {
        guard let writer = open?.writer else { return [] }
        open = nil
        return [.end(SegmentEnding(writer.close()))]
    }

    private func take(_ frame: MediaFrame, now: Moment, isSynchronised: Bool, into outputs: inout [Output]) {
        guard frame.kind == .video ? hasVideoTrack : hasAudioTrack else { return }
        if frame.kind == .video || !hasVideoTrack {
            if follow(frame, now, isSynchronised) { outputs += end() }
            if frame.isKeyFrame, isNewSegment(frame) { outputs += end() + begin(with: frame) }
        }
        if open == nil { return }
        do throws(IoTError) {
            if frame.kind == .audio, let sound, !sound.isUnchanged {
                for frame in try sound.take(frame) { try append(frame, into: &outputs) }
            } else {
                try append(frame, into: &outputs)
            }
        } catch {
            // Continues with the next key frame.
            failure = error
            outputs += end()
        }
    }

    /// Keeps the two clocks together.
    ///
    /// - Returns: whether the segment ends before this frame.
    private func follow(_ frame: MediaFrame, _ now: Moment, _ isSynchronised: Bool) -> Bool {
        var ends = false
        let verdict = clock.take(
            frame: frame.dts, now: now, isSynchronised: isSynchronised, isBreak: frame.isDiscontinuity)
        switch verdict {
        case .begin(let facts, let wall):
            lead = wall - frame.dts
            nextRun = facts
            // After a step of the wall clock, the open segment continues on its own time until the next key frame.
            ends = facts.previousEnd == .mediaJump
        case .continue(let wall):
            lead = wall - frame.dts
        }
        if nextRun == nil { segmentLead = lead }
        return ends
    }

    private func isNewSegment(_ frame: MediaFrame) -> Bool {
        guard let open else { return true }
        return nextRun != nil || !open.writer.tracks.canHold(frame)
            || open.writer.tracks.video?.rotation != tracks.video?.rotation
            || open.length.isReached(duration: frame.pts - open.start, bytes: open.writer.byteCount)
    }

    private func begin(with frame: MediaFrame) -> [Output] {
        guard let facts = nextRun ?? run else { return [] }
        do throws(IoTError) {
            let tracks = tracks.starting(with: frame)
            let writer = try SegmentWriter(
                tracks: tracks, start: frame.pts, created: frame.pts + lead, title: title)
            open = Open(writer: writer, start: frame.pts, length: isFirst ? length.first(camera) : length)
            (isFirst, run, nextRun, segmentLead) = (false, facts, nil, lead)
            let opening = SegmentOpening(
                header: writer.header, sampleEntry: tracks.sampleEntries, run: facts, reason: reason)
            return [.begin(opening)]
        } catch {
            failure = error
            return []
        }
    }

    private func append(_ frame: MediaFrame, into outputs: inout [Output]) throws(IoTError) {
        guard let start = open?.start else { return }
        if let fragment = try open?.writer.append(frame, wallClock: frame.pts + segmentLead) {
            outputs.append(.append(StoredFragment(fragment)))
        }
        if frame.pts - start >= SegmentLength.longest { outputs += end() }
    }
}
