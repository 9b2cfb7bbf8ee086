import IoTCore
import NIOCore

/// The video track of a segment: leaves parameter sets to the header, and assigns decoding times and durations.
struct SegmentVideoTrack {
    static let timescale: Int64 = 90_000

    let parameters: VideoParameters
    /// How far decoding runs ahead of presentation, in ticks.
    let lead: Int64
    private var times: DecodingTimes
    private var held: SegmentFrame?
    private var lastDuration: Int64
    private var hasStarted = false
    private var isPastLeading = false

    /// - Throws: `mediaHeaderInvalid` without parameter sets.
    init(_ parameters: VideoParameters) throws(IoTError) {
        var store = ParameterSetStore(codec: parameters.codec)
        store.absorb(parameters.parameterSets)
        guard store.isComplete, let sequence = store.sequence else {
            throw IoTError(
                .mediaHeaderInvalid, "the first key frame has no parameter sets", remedy: "wait for the next one")
        }
        var known = parameters
        known.width = sequence.width
        known.height = sequence.height
        self.parameters = known
        // A depth that is too large has no cost in a file; one that is too small would change times. If the set does
        // not specify a depth, that of common encoders is used.
        let depth = max(0, min(16, max(parameters.reorderDepth, sequence.reorderDepth ?? 4)))
        let rate = sequence.frameRate ?? plausibleFrameRate(parameters.frameRate) ?? 25
        lastDuration = max(1, Int64(Double(Self.timescale) / rate))
        lead = Int64(depth) * lastDuration
        times = DecodingTimes(depth: depth, frameDuration: lastDuration)
    }

    /// Pictures with times that did not fit their order and were changed.
    var adjustedTimes: Int { times.adjusted }

    /// - Parameter time: the frame's `pts` from the segment's start, µs.
    /// - Returns: the previous frame, whose duration is now known.
    mutating func take(_ frame: MediaFrame, at time: Int64, wallClock: Int64) throws(IoTError) -> SegmentFrame? {
        if !hasStarted {
            guard frame.isKeyFrame else {
                throw IoTError(
                    .mediaHeaderInvalid, "a recording must start with a key frame", remedy: "wait for the next one")
            }
            hasStarted = true
        } else if !isPastLeading {
            // Leading pictures of the first key frame refer to earlier pictures, so they cannot be decoded.
            if time < 0 { return nil }
            isPastLeading = true
        }
        let parts: (first: ByteBuffer, others: [ByteBuffer]) =
            hasOnlyOtherUnits(frame.bytes) ? (frame.bytes, []) : try withoutParameterSets(frame.bytes)
        let placed = times.place(ticks(time, Self.timescale))
        if let begin = held?.sample.dts {
            lastDuration = placed.dts - begin
            held?.sample.duration = lastDuration
        }
        let size = parts.others.reduce(parts.first.readableBytes) { $0 + $1.readableBytes }
        let sample = SegmentSample(
            byteCount: size, pts: placed.pts, dts: placed.dts, duration: lastDuration, isKey: frame.isKeyFrame,
            wallClock: wallClock)
        var released: SegmentFrame? = SegmentFrame(sample: sample, bytes: parts.first, otherBytes: parts.others)
        swap(&held, &released)
        return released
    }

    mutating func finish() -> SegmentFrame? {
        held?.sample.duration = lastDuration
        return held.take()
    }

    /// The header contains them, and `avc1` and `hvc1` forbid them in samples (ISO/IEC 14496-15 §5.3.2, §8.3.2). The
    /// other units stay where they are, as slices of the frame's own buffer.
    private func withoutParameterSets(
        _ bytes: ByteBuffer
    ) throws(IoTError) -> (first: ByteBuffer, others: [ByteBuffer]) {
        var (rest, slices) = (bytes, [ByteBuffer]())
        var (start, end) = (rest.readerIndex, rest.readerIndex)
        func keep() {
            if end > start, let slice = bytes.getSlice(at: start, length: end - start) { slices.append(slice) }
        }
        while let length = rest.readInteger(as: UInt32.self), length > 0, let unit = rest.readSlice(length: Int(length))
        {
            if let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self),
                NALUnitType(codec: parameters.codec, firstByte: first).isParameterSet
            {
                guard parameters.parameterSets.contains(where: { unit.readableBytesView.elementsEqual($0) }) else {
                    throw IoTError(
                        .videoSizeChanged, "the video's parameters changed, and one recording cannot hold both")
                }
                keep()
                start = rest.readerIndex
            }
            end = rest.readerIndex
        }
        keep()
        return (slices.first ?? ByteBuffer(), Array(slices.dropFirst()))
    }

    /// Whether the frame is made of whole units, of which none is a parameter set: so are most.
    private func hasOnlyOtherUnits(_ bytes: ByteBuffer) -> Bool {
        let codec = parameters.codec
        return bytes.withUnsafeReadableBytes { bytes in
            var place = 0
            while bytes.count - place > 4 {
                let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
                guard length > 0, length <= bytes.count - place - 4,
                    !NALUnitType(codec: codec, firstByte: bytes[place + 4]).isParameterSet
                else { return false }
                place += 4 + length
            }
            return place == bytes.count
        }
    }
}
