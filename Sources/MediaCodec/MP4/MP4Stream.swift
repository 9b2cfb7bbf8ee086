package import IoTCore
package import NIOCore

/// A recording that is sent while it is made: the fragments of one endless segment, playable while it grows.
///
/// Takes frames as received over RTP: in decoding order, with dts equal to pts. Times start at 0 with the first key
/// frame; earlier audio is left out. Not Sendable.
package final class MP4Stream {
    private var tracks: SegmentTracks
    private let sound: RecordedSound?
    private var writer: SegmentWriter?
    private var isFinished = false

    /// - Throws: `invalidParameter` without any track; `codecUnsupported` for AAC without its AudioSpecificConfig.
    package init(video: VideoParameters?, audio: AudioParameters?) throws(IoTError) {
        guard video != nil || audio != nil else {
            throw IoTError(.invalidParameter, "a recording needs a video or an audio track")
        }
        var sound: RecordedSound?
        if let audio { sound = try RecordedSound(audio) }
        self.sound = sound
        tracks = SegmentTracks(video: video, audio: sound?.parameters)
        if let parameters = tracks.audio { _ = try SegmentAudioTrack(parameters, earliest: 0) }
    }

    /// - Returns: The bytes to append, if any.
    /// - Throws: as `SegmentWriter.append`.
    package func write(_ frame: MediaFrame) throws(IoTError) -> ByteBuffer? {
        guard !isFinished else {
            throw IoTError(.stateMismatch, "the recording is finished", remedy: "start a new one")
        }
        guard (frame.kind == .video ? tracks.video != nil : tracks.audio != nil) else { return nil }
        var bytes = ByteBuffer()
        if writer == nil {
            guard frame.kind == .video || tracks.video == nil else { return nil }
            guard frame.isKeyFrame else {
                throw IoTError(
                    .mediaHeaderInvalid, "a recording must start with a key frame", remedy: "wait for the next one")
            }
            tracks = tracks.starting(with: frame)
            let writer = try SegmentWriter(tracks: tracks, form: .stream, start: frame.pts)
            self.writer = writer
            bytes.writeImmutableBuffer(writer.header)
        }
        let frames = frame.kind == .audio ? try sound?.take(frame) ?? [] : [frame]
        for frame in frames { append(try writer?.append(frame, wallClock: frame.pts), to: &bytes) }
        return bytes.readableBytes > 0 ? bytes : nil
    }

    /// Ends the stream.
    ///
    /// - Returns: The last bytes to append. Without them, it plays up to the last whole fragment.
    package func finish() -> ByteBuffer {
        var bytes = ByteBuffer()
        guard !isFinished else { return bytes }
        isFinished = true
        // Errors are ignored: everything that could be written is returned.
        for frame in (try? sound?.finish()) ?? [] {
            append((try? writer?.append(frame, wallClock: frame.pts)) ?? nil, to: &bytes)
        }
        append(writer?.flush(), to: &bytes)
        return bytes
    }

    /// Video frames with times that did not fit their order and were changed.
    package var adjustedTimes: Int { writer?.adjustedTimes ?? 0 }

    private func append(_ fragment: Fragment?, to bytes: inout ByteBuffer) {
        guard let fragment else { return }
        bytes.reserveCapacity(bytes.writerIndex + fragment.byteCount)
        for part in fragment.bytes { bytes.writeImmutableBuffer(part) }
    }
}
