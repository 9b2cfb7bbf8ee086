import NIOCore

/// What the closing `moov` says of one track's samples (ISO/IEC 14496-12 §8.6, §8.7), collected while they are written.
struct SampleTable {
    private struct Run {
        var count: UInt32
        var value: UInt32
    }

    /// Values of which most are like the one before.
    private struct Runs {
        private var ended: [Run] = []
        private var last: Run?

        var all: [Run] { ended + (last.map { [$0] } ?? []) }

        mutating func append(_ value: UInt32) {
            if last?.value == value {
                last?.count += 1
            } else {
                if let last { ended.append(last) }
                last = Run(count: 1, value: value)
            }
        }
    }

    /// What the chunks' places count from.
    var mediaOffset: Int64 = 0
    private(set) var sampleCount: UInt32 = 0
    /// In ticks from the segment's start.
    private(set) var firstDTS: Int64 = 0
    /// The end of the sample that is presented last, likewise.
    private(set) var end: Int64 = 0
    private(set) var duration: Int64 = 0
    private var sizes: [UInt32] = []
    private var durations = Runs()
    private var offsets = Runs()
    private var keys: [UInt32] = []
    /// A fragment's samples of this track are one chunk.
    private var chunks: [(offset: Int64, samples: UInt32)] = []

    mutating func append(_ samples: [SegmentSample], at offset: Int64) {
        guard let first = samples.first else { return }
        if sampleCount == 0 { firstDTS = first.dts }
        for sample in samples {
            sampleCount += 1
            sizes.append(UInt32(clamping: sample.byteCount))
            durations.append(UInt32(clamping: sample.duration))
            offsets.append(UInt32(clamping: sample.pts - sample.dts))
            if sample.isKey { keys.append(sampleCount) }
            duration += sample.duration
            end = max(end, sample.pts + sample.duration)
        }
        chunks.append((offset, UInt32(samples.count)))
    }

    /// Writes `stts` to `stco`; without samples, they are empty.
    func write(to box: inout ByteBuffer) {
        box.writeBox("stts", version: 0) { Self.write(durations.all, to: &$0) }
        let offsets = offsets.all
        if offsets.contains(where: { $0.value != 0 }) {
            box.writeBox("ctts", version: 0) { Self.write(offsets, to: &$0) }
        }
        if keys.count < Int(sampleCount) {
            box.writeBox("stss", version: 0) { box in
                box.writeInteger(UInt32(keys.count))
                box.writeIntegers(keys)
            }
        }
        box.writeBox("stsc", version: 0, writeChunks)
        box.writeBox("stsz", version: 0) { box in
            box.writeInteger(UInt32(0))
            box.writeInteger(UInt32(sizes.count))
            box.writeIntegers(sizes)
        }
        let isLarge = (chunks.last?.offset ?? 0) + mediaOffset > Int64(UInt32.max)
        box.writeBox(isLarge ? "co64" : "stco", version: 0) { box in
            box.writeInteger(UInt32(chunks.count))
            let places = chunks.map { $0.offset + mediaOffset }
            if isLarge { box.writeIntegers(places) } else { box.writeIntegers(places.map(UInt32.init(clamping:))) }
        }
    }

    private static func write(_ runs: [Run], to box: inout ByteBuffer) {
        box.writeInteger(UInt32(runs.count))
        box.writeIntegers(runs.flatMap { [$0.count, $0.value] })
    }

    /// An entry where the number of samples in a chunk changes.
    private func writeChunks(to box: inout ByteBuffer) {
        let start = box.writerIndex
        box.writeInteger(UInt32(0))
        var (count, last) = (UInt32(0), UInt32?.none)
        for (index, chunk) in chunks.enumerated() where chunk.samples != last {
            last = chunk.samples
            count += 1
            box.writeInteger(UInt32(index + 1))
            box.writeInteger(chunk.samples)
            box.writeInteger(UInt32(1))
        }
        box.setInteger(count, at: start)
    }
}
