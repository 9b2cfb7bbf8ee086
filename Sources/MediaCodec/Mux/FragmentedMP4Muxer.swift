public import IoTCore
public import NIOCore

/// Writes fragmented MP4 with a fragment about every second. It is playable while it grows.
///
/// Takes frames as received over RTP: in decoding order, with dts equal to pts. H.264 becomes `avc1`, H.265 `hvc1`, AAC
/// `mp4a`, Opus `Opus`; G.711, which MP4 does not support, is transcoded to AAC. Times start at 0 with the first key frame; earlier
/// audio is left out. Not Sendable.
public final class FragmentedMP4Muxer {
    private let output: FormatOutput
    private var videoTrack: VideoTrackWriter?
    private var audioTrack: AudioTrackWriter?
    private var base: Int64?
    private var fragmentStart: Int64?
    private var hasHeader = false
    private var isFinished = false

    /// The length of a fragment in µs. A fragment that is at least half as long ends at a key frame.
    private static let fragmentDuration: Int64 = 1_000_000

    /// - Throws: `invalidParameter` without any track; `codecUnsupported` for AAC without its AudioSpecificConfig.
    public init(video: VideoParameters?, audio: AudioParameters?) throws(IoTError) {
        guard video != nil || audio != nil else {
            throw IoTError(.invalidParameter, "a recording needs a video or an audio track")
        }
        output = try FormatOutput()
        videoTrack = video.map { VideoTrackWriter($0) }
        if let audio { audioTrack = try AudioTrackWriter(audio) }
    }

    /// Writes the next frame of either track.
    ///
    /// - Returns: The bytes to append to the file, if any.
    /// - Throws: `mediaHeaderInvalid` if the first video frame is not a key frame with parameter sets;
    ///   `videoSizeChanged` if the parameter sets change, because an MP4 track cannot hold both: finish this file and
    ///   start another; `mediaFailed`.
    public func write(_ frame: MediaFrame) throws(IoTError) -> ByteBuffer? {
        guard !isFinished else {
            throw IoTError(.stateMismatch, "the recording is finished", remedy: "start a new one")
        }
        switch frame.kind {
        case .video:
            guard let videoTrack else { return nil }
            if base == nil { try start(with: frame) }
            try append(try videoTrack.take(frame, base: base ?? 0))
        case .audio:
            guard let audioTrack else { return nil }
            if base == nil {
                guard videoTrack == nil else { return nil }
                try start(with: frame)
            }
            try append(try audioTrack.take(frame, base: base ?? 0))
        }
        return output.takeBytes()
    }

    /// Ends the file.
    ///
    /// - Returns: The last bytes to append. Without them, the file plays up to the last whole fragment.
    public func finish() -> ByteBuffer {
        guard !isFinished else { return ByteBuffer() }
        isFinished = true
        // Errors are ignored: everything that could be written is returned.
        try? finishTracks()
        return output.takeBytes() ?? ByteBuffer()
    }

    /// Video frames with times that did not fit their order and were changed.
    public var adjustedTimes: Int { videoTrack?.adjustedTimes ?? 0 }

    private func finishTracks() throws(IoTError) {
        guard base != nil else { return }
        try append(videoTrack?.finish() ?? [])
        try append(try audioTrack?.finish() ?? [])
        try output.writeTrailer()
    }

    private func start(with frame: MediaFrame) throws(IoTError) {
        try videoTrack?.start(with: frame, output)
        try audioTrack?.start(output)
        try output.writeHeader()
        videoTrack?.settleClock(output)
        audioTrack?.settleClock(output)
        base = frame.pts
    }

    private func append(_ samples: [MuxedSample]) throws(IoTError) {
        for sample in samples {
            let elapsed = sample.time - (fragmentStart ?? sample.time)
            let limit = sample.isFragmentStart ? Self.fragmentDuration / 2 : Self.fragmentDuration
            if fragmentStart == nil {
                fragmentStart = sample.time
            } else if elapsed >= limit {
                try output.endFragment()
                fragmentStart = sample.time
            }
            try output.write(
                sample.bytes, stream: sample.stream, pts: sample.pts, dts: sample.dts, duration: sample.duration,
                isKey: sample.isKey)
            if !hasHeader {
                // The first flush writes only the delayed header; the samples stay buffered.
                try output.endFragment()
                hasHeader = true
            }
        }
    }
}

/// One sample to write, with times in ticks of its track.
struct MuxedSample {
    var stream: Int32
    var bytes: ByteBuffer
    var pts: Int64
    var dts: Int64
    var duration: Int64
    var isKey: Bool
    /// A video key frame: a good start for a fragment.
    var isFragmentStart: Bool
    /// In µs from the start of the file.
    var time: Int64
}

/// Converts `time` from µs to ticks, rounded to the nearest.
func ticks(_ time: Int64, _ ticksPerSecond: Int64) -> Int64 {
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
    let part = rest * ticksPerSecond
    return seconds &* ticksPerSecond &+ (part + (part < 0 ? -500_000 : 500_000)) / 1_000_000
}
