import IoTCore
import MediaCodec
import NIOCore

@testable import RecordingStore

/// The files that a camera's recording would write.
struct RecordedFiles {
    struct File {
        var opening: SegmentOpening
        var bytes: ByteBuffer
        var fragments: [FragmentFacts] = []
        var isClosed = false

        /// All samples as frames, in the order of the file.
        func frames() throws -> [MediaFrame] {
            let contents = try contents()
            return try contents.fragments.flatMap { fragment in
                let part = try RecordedFiles.required(
                    bytes.getSlice(at: Int(fragment.offset), length: fragment.byteCount))
                return try contents.samples(of: fragment, part).map { sample in
                    let body = try RecordedFiles.required(
                        bytes.getSlice(at: Int(sample.offset), length: sample.byteCount))
                    return contents.frame(sample, body)
                }
            }
        }

        func contents() throws -> MediaCodec.SegmentContents {
            var scan = MediaCodec.SegmentScan(fileSize: Int64(bytes.readableBytes))
            while let range = scan.wanted {
                scan.supply(try RecordedFiles.required(bytes.getSlice(at: Int(range.lowerBound), length: range.count)))
            }
            return try scan.contents()
        }
    }

    private(set) var files: [File] = []

    struct Missing: Error {}

    static func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Missing() }
        return value
    }

    mutating func take(_ outputs: [CameraRecording.Output]) throws {
        for output in outputs {
            switch output {
            case .begin(let opening):
                files.append(File(opening: opening, bytes: opening.header))
            case .append(let fragment):
                let last = try Self.required(files.indices.last)
                files[last].fragments.append(fragment.facts)
                for part in fragment.bytes { files[last].bytes.writeImmutableBuffer(part) }
            case .end(let ending):
                let last = try Self.required(files.indices.last)
                guard let ending else { continue }
                files[last].bytes.writeImmutableBuffer(ending.tail)
                files[last].bytes.setBuffer(ending.head, at: Int(ending.headOffset))
                files[last].isClosed = true
            }
        }
    }
}
