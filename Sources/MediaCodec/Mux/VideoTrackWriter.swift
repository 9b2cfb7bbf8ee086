import CFFmpeg
import IoTCore
import NIOCore

/// The video track of a recording: moves parameter sets to the header, and assigns decoding times and durations.
final class VideoTrackWriter {
    private let parameters: VideoParameters
    private var store: ParameterSetStore
    private var times = DecodingTimes(depth: 0, frameDuration: 1)
    private var stream: Int32 = -1
    private var clock: Int64 = 90_000
    private var held: MuxedSample?
    private var lastDuration: Int64 = 0
    private var firstPTS: Int64?
    private var isPastLeading = false

    init(_ parameters: VideoParameters) {
        self.parameters = parameters
        store = ParameterSetStore(codec: parameters.codec)
    }

    var adjustedTimes: Int { times.adjusted }

    func start(with frame: MediaFrame, _ output: FormatOutput) throws(IoTError) {
        guard frame.isKeyFrame else {
            throw IoTError(
                .mediaHeaderInvalid, "a recording must start with a key frame", remedy: "wait for the next one")
        }
        store.absorb(parameters.parameterSets)
        let inBand = parameterSets(of: frame)
        if !inBand.isEmpty {
            // The parameter sets in the key frame take precedence; the track's parameters may be older.
            var fresh = ParameterSetStore(codec: parameters.codec)
            fresh.absorb(inBand)
            if fresh.isComplete { store = fresh } else { store.absorb(inBand) }
        }
        guard store.isComplete, let sequence = store.sequence else {
            throw IoTError(
                .mediaHeaderInvalid, "the first key frame has no parameter sets", remedy: "wait for the next one")
        }
        let codec = parameters.codec
        let record = DecoderConfiguration.record(codec: codec, parameterSets: store.parameterSets)
        stream = try output.addStream(ticks: 90_000) { coded throws(IoTError) in
            coded.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            coded.pointee.codec_id = codec.libavID
            coded.pointee.codec_tag = codec == .h264 ? cffmpeg_tag_avc1() : cffmpeg_tag_hvc1()
            coded.pointee.width = Int32(sequence.width)
            coded.pointee.height = Int32(sequence.height)
            try FormatOutput.setExtradata(record, of: coded)
        }
        // A depth that is too large has no cost in a file; one that is too small would change times. If the set does
        // not specify a depth, that of common encoders is used.
        let depth = max(parameters.reorderDepth, sequence.reorderDepth ?? 4)
        let rate = sequence.frameRate ?? plausibleFrameRate(parameters.frameRate) ?? 25
        lastDuration = Int64(90_000 / rate)
        times = DecodingTimes(depth: depth, frameDuration: lastDuration)
    }

    func settleClock(_ output: FormatOutput) {
        clock = output.ticks(of: stream)
        guard clock != 90_000 else { return }
        lastDuration = max(1, lastDuration * clock / 90_000)
        times = times.scaled(frameDuration: lastDuration)
    }

    func take(_ frame: MediaFrame, base: Int64) throws(IoTError) -> [MuxedSample] {
        let (time, overflow) = frame.pts.subtractingReportingOverflow(base)
        guard !overflow, time.magnitude < 1 << 50 else {
            throw IoTError(.mediaFailed, "the video clock jumped too far", remedy: "start a new recording")
        }
        for set in parameterSets(of: frame) where !store.parameterSets.contains(set) {
            throw IoTError(
                .videoSizeChanged,
                "the video's parameters changed, and one recording cannot hold both")
        }
        if firstPTS == nil {
            firstPTS = time
        } else if !isPastLeading {
            // Leading pictures of the first key frame refer to earlier pictures, so they cannot be decoded.
            if time < firstPTS ?? 0 { return [] }
            isPastLeading = true
        }
        let placed = times.place(ticks(time, clock))
        // The first dts is negative if the depth is not 0: libavformat starts the track there and writes an edit list.
        let sample = MuxedSample(
            stream: stream, bytes: withoutParameterSets(frame.bytes), pts: placed.pts, dts: placed.dts, duration: 0,
            isKey: frame.isKeyFrame, isFragmentStart: frame.isKeyFrame, time: time)
        defer { held = sample }
        return release(nextDTS: sample.dts)
    }

    func finish() -> [MuxedSample] {
        defer { held = nil }
        return release(nextDTS: nil)
    }

    // A sample's duration is the difference to the next dts, so each sample waits for the next one.
    private func release(nextDTS: Int64?) -> [MuxedSample] {
        guard var sample = held else { return [] }
        if let nextDTS { lastDuration = nextDTS - sample.dts }
        sample.duration = lastDuration
        return [sample]
    }

    private func parameterSets(of frame: MediaFrame) -> [[UInt8]] {
        frame.nalUnits.compactMap { unit in
            guard let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self),
                NALUnitType(codec: parameters.codec, firstByte: first).isParameterSet
            else { return nil }
            return Array(unit.readableBytesView)
        }
    }

    // The header contains them, and `avc1` and `hvc1` forbid them in samples (ISO/IEC 14496-15 §5.3.2, §8.3.2).
    private func withoutParameterSets(_ bytes: ByteBuffer) -> ByteBuffer {
        var result = ByteBuffer()
        result.reserveCapacity(bytes.readableBytes)
        for unit in NALUnitSequence(bytes) {
            guard let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self),
                !NALUnitType(codec: parameters.codec, firstByte: first).isParameterSet
            else { continue }
            result.writeInteger(UInt32(unit.readableBytes))
            result.writeImmutableBuffer(unit)
        }
        return result
    }
}
