import NIOCore

@testable import IoTCore
@testable import MediaCodec

extension FuzzTarget {
    /// A recording's file. Fragments follow each other, and their samples fill them; a file that is cut after its last
    /// whole fragment has the same fragments; few reads.
    static let recording = FuzzTarget("recording", cost: ReadingCost(size: 1 << 18) { _ = try? scan($0) }) { input in
        guard let (contents, reads) = try? scan(input) else { return }
        try require(reads <= contents.fragments.count + 8, "\(reads) reads for \(contents.fragments.count) fragments")
        var offset = contents.headerBytes
        for fragment in contents.fragments {
            try require(fragment.offset == offset, "a fragment at \(fragment.offset), expected \(offset)")
            offset = fragment.end
            let bytes = ByteBuffer(bytes: input[Int(fragment.offset)..<Int(fragment.end)])
            let samples = try contents.samples(of: fragment, bytes)
            try require(!samples.isEmpty, "a fragment without samples")
            for sample in samples {
                try require(
                    sample.offset > fragment.offset && sample.offset + Int64(sample.byteCount) <= fragment.end,
                    "a sample outside its fragment")
                let range = Int(sample.offset)..<Int(sample.offset) + sample.byteCount
                _ = contents.frame(sample, ByteBuffer(bytes: input[range]))
            }
        }
        try require(contents.mediaEnd == offset && contents.end >= offset, "the last fragment does not end the media")
        try require(contents.end <= Int64(input.count), "ends after the file")
        guard contents.state == .growing, contents.closedMediaEnd == nil else { return }
        let (again, _) = try scan(Array(input.prefix(Int(contents.end))))
        try require(again.fragments == contents.fragments, "other fragments after the cut")
    }

    private static func scan(_ input: [UInt8]) throws -> (SegmentContents, Int) {
        var scan = SegmentScan(fileSize: Int64(input.count))
        var reads = 0
        while let range = scan.wanted {
            reads += 1
            scan.supply(ByteBuffer(bytes: input[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
        return (try scan.contents(), reads)
    }
}
