import NIOCore

/// The heads of a fragment: `prft`, `moof` (ISO/IEC 14496-12 §8.16.5, §8.8.4) and the head of `mdat`.
struct FragmentBoxes {
    var sequence: UInt32
    /// The tracks that have samples.
    var runs: [SegmentRun]
    /// Pairs a wall-clock time, µs since 1970, with a media time of a track, in its ticks. A stream has none.
    var anchor: (trackID: UInt32, wallClock: Int64, mediaTime: Int64)?

    /// Seconds between 1900 and 1970.
    static let epoch: Int64 = 2_208_988_800

    /// At least as many bytes as `write` needs: at most 16 for each sample.
    var mostBytes: Int { runs.reduce(256) { $0 + 128 + $1.samples.count * 16 } }

    func write(to buffer: inout ByteBuffer) {
        writeAnchor(to: &buffer)
        let start = buffer.writerIndex
        var patches: [(index: Int, offset: Int)] = []
        var offset = 0
        buffer.writeBox("moof") { box in
            box.writeBox("mfhd", version: 0) { _ = $0.writeInteger(sequence) }
            for run in runs {
                box.writeBox("traf") { patches.append((write(run, to: &$0), offset)) }
                offset += run.payload.byteCount
            }
        }
        let head = buffer.writerIndex - start + 8
        for patch in patches { buffer.setInteger(UInt32(clamping: head + patch.offset), at: patch.index) }
        buffer.writeInteger(UInt32(clamping: offset + 8))
        buffer.writeInteger(BoxType("mdat").rawValue)
    }

    private func writeAnchor(to buffer: inout ByteBuffer) {
        guard let anchor else { return }
        // Flag 24: the time of capture.
        buffer.writeBox("prft", version: 1, flags: 24) { box in
            box.writeInteger(anchor.trackID)
            let (seconds, part) = anchor.wallClock.quotientAndRemainder(dividingBy: 1_000_000)
            box.writeInteger(UInt32(truncatingIfNeeded: seconds &+ Self.epoch))
            box.writeInteger(UInt32(truncatingIfNeeded: (max(0, part) << 32) / 1_000_000))
            box.writeInteger(anchor.mediaTime)
        }
    }

    /// - Returns: where the offset of the run's media belongs.
    private func write(_ run: SegmentRun, to box: inout ByteBuffer) -> Int {
        let samples = run.samples
        let duration = UInt32(clamping: samples.first?.duration ?? 0)
        let isEven = samples.allSatisfy { $0.duration == samples.first?.duration }
        // Offsets count from the start of `moof`.
        box.writeBox("tfhd", version: 0, flags: 0x2_0000 | (isEven ? 0x8 : 0)) { box in
            box.writeInteger(run.trackID)
            if isEven { box.writeInteger(duration) }
        }
        box.writeBox("tfdt", version: 1) { box in
            box.writeInteger((samples.first?.dts ?? 0) + run.origin)
        }
        let isReordered = samples.contains { $0.pts != $0.dts }
        let isMixed = samples.dropFirst().contains { $0.isKey != samples[1].isKey }
        var flags: UInt32 = 0x201
        if !isEven { flags |= 0x100 }
        if isReordered { flags |= 0x800 }
        let rest = samples.count > 1 ? samples[1].isKey : samples.first?.isKey ?? true
        // Where all but the first are alike, and like the track's default, only the first has flags.
        let isAudio = samples.allSatisfy(\.isKey) && run.trackID == SegmentWriter.audioID
        let isDefault = !isMixed && (isAudio || !rest || samples.count == 1)
        if !isDefault { flags |= 0x400 } else if !isAudio { flags |= 0x4 }
        var words = [UInt32(samples.count), 0]
        words.reserveCapacity(4 + 4 * samples.count)
        func flagWord(_ sample: SegmentSample) -> UInt32 {
            sample.isKey ? SampleFlags.independent : SampleFlags.dependent
        }
        if flags & 0x4 != 0, let first = samples.first { words.append(flagWord(first)) }
        for sample in samples {
            if !isEven { words.append(UInt32(clamping: sample.duration)) }
            words.append(UInt32(clamping: sample.byteCount))
            if !isDefault { words.append(flagWord(sample)) }
            if isReordered { words.append(UInt32(clamping: sample.pts - sample.dts)) }
        }
        let start = box.writerIndex
        box.writeBox("trun", version: 0, flags: flags) { $0.writeIntegers(words) }
        // After the box's head, its version and flags, and the number of samples.
        return start + 16
    }
}
