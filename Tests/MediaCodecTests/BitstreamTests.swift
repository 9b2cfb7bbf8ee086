import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import MediaCodec

@Suite("Bitstreams")
struct BitstreamTests {
    // Parameter sets of the checked-in clips, made with x264 and x265; the expected values are from ffprobe.
    @Test("H.264: size, frame rate and reordering depth")
    func h264() throws {
        let demuxer = try MediaDemuxer(url: Clips.bFrames)
        let bytes = try #require(demuxer.video?.parameterSets.first)
        let set = try #require(H264SequenceParameterSet(nalUnit: bytes))
        #expect(set.profile == 100)
        #expect(set.width == 768)
        #expect(set.height == 576)
        #expect(set.frameRate == 10)
        #expect(set.reorderDepth == 2)
        #expect(set.chromaFormat == 1)
    }

    @Test("H.264: cropping and a Baseline set without VUI, built bit by bit")
    func h264Built() throws {
        var writer = BitWriter()
        writer.bits(0x67, 8)
        writer.bits(66, 8)
        writer.bits(0, 8)
        writer.bits(31, 8)
        writer.ue(3)  // id
        writer.ue(0)  // log2_max_frame_num_minus4
        writer.ue(0)  // pic_order_cnt_type
        writer.ue(2)
        writer.ue(1)  // max_num_ref_frames
        writer.bits(0, 1)
        writer.ue(119)  // 1920
        writer.ue(67)  // 1088
        writer.bits(1, 1)  // frame_mbs_only
        writer.bits(1, 1)
        writer.bits(1, 1)  // cropping: 8 rows at the bottom
        for value in [0, 0, 0, 4] { writer.ue(value) }
        writer.bits(0, 1)
        let set = try #require(H264SequenceParameterSet(nalUnit: writer.finished()))
        #expect(set.id == 3)
        #expect(set.width == 1920)
        #expect(set.height == 1080)
        #expect(set.frameRate == nil)
        #expect(set.reorderDepth == 0)
    }

    @Test("H.265: size, frame rate and reordering depth, with all optional parts that x265 writes")
    func h265() throws {
        let folder = try TemporaryFolder()
        for (options, depth) in [("bframes=0", 0), ("bframes=4:b-pyramid=1", 2), ("bframes=2:temporal-layers=1", 2)] {
            let file = folder.file("a.mp4")
            try FFmpegTool.run(
                [
                    "-f", "lavfi", "-i", "testsrc2=size=200x120:rate=30000/1001:duration=1", "-pix_fmt", "yuv420p",
                    "-c:v", "libx265", "-x265-params", "scaling-list=default:" + options, file,
                ], allowMessages: true)
            let demuxer = try MediaDemuxer(url: file)
            let sets = try #require(demuxer.video?.parameterSets)
            let set = try #require(H265SequenceParameterSet(nalUnit: sets[1]))
            #expect(set.width == 200)
            #expect(set.height == 120)
            #expect(abs((set.frameRate ?? 0) - 29.97) < 0.01)
            #expect(set.reorderDepth == depth, "\(options)")
            let measured = try FFmpegTool.probe(file, ["-show_entries", "stream=has_b_frames"])
            #expect(set.reorderDepth == Int(measured))
        }
    }

    @Test("Random data parses to nil or to values within bounds, and never traps")
    func garbage() throws {
        var random = SeededGenerator(seed: 7)
        let real = try [Clips.h264, Clips.h265, Clips.bFrames].flatMap {
            try #require(try MediaDemuxer(url: $0).video?.parameterSets)
        }
        for round in 0..<6000 {
            var bytes = real[round % real.count]
            if round % 2 == 0 {
                for _ in 0..<(1 + round % 5) {
                    bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
                }
            } else {
                bytes = (0..<Int(random.next() % 90)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                if !bytes.isEmpty { bytes[0] = round % 4 == 1 ? 0x67 : 0x42 }
            }
            for codec in VideoCodec.allCases {
                if let set = SequenceParameterSet(codec: codec, nalUnit: bytes) {
                    #expect((1...32768).contains(set.width) && (1...32768).contains(set.height))
                }
                var store = ParameterSetStore(codec: codec)
                store.absorb([bytes])
                _ = DecoderConfiguration(codec: codec, extradata: bytes)
                _ = DecoderConfiguration.record(codec: codec, parameterSets: [bytes])
                var assembler = AccessUnitAssembler(codec: codec, extradata: bytes)
                bytes.withUnsafeBytes { _ = assembler.assemble($0, isMarkedKey: true) }
            }
            _ = AudioSpecificConfig(bytes)
            bytes.withUnsafeBytes { _ = ADTSHeader($0) }
        }
    }

    @Test("NAL units are found after start codes and after lengths of any size")
    func framing() {
        let units: [[UInt8]] = [[0x67, 1, 2], [0x68, 0, 0, 3, 1], [0x65, 9]]
        let annexB: [UInt8] = [0, 0, 0, 0, 1] + units[0] + [0, 0, 1] + units[1] + [0, 0, 0, 1] + units[2] + [0, 0]
        #expect(split(annexB, .startCodes) == units)
        for size in 1...4 {
            let bytes = units.flatMap { unit in
                [UInt8](repeating: 0, count: size - 1) + [UInt8(unit.count)] + unit
            }
            #expect(split(bytes, .lengths(size: size)) == units)
            // A length that exceeds the data ends the list.
            #expect(split(bytes.dropLast(), .lengths(size: size)) == Array(units.dropLast()))
        }
        #expect(split([0, 0, 0, 1, 0x65, 9, 0, 0, 1, 0x41, 2], .lengths(size: 4)) == [[0x65, 9], [0x41, 2]])
        #expect(split([], .startCodes).isEmpty)
        #expect(split([0, 0, 1], .startCodes).isEmpty)
    }

    @Test("Delimiters, filler and reserved types are dropped; key frames begin with all sets, others keep their own")
    func assembling() throws {
        let demuxer = try MediaDemuxer(url: Clips.h264)
        let sets = try #require(demuxer.video?.parameterSets)
        var assembler = AccessUnitAssembler(codec: .h264, extradata: [])
        // A key frame with sets in the wrong order, a delimiter, filler, an RTP aggregate's type and SEI.
        let key = try #require(
            assemble(&assembler, [[9, 0xF0], sets[1], sets[0], [12, 255], [24, 1], [6, 5], [0x65, 0x88]]))
        #expect(key.isKeyFrame && key.startsSequence && key.didChangeParameterSets)
        #expect(units(key) == [sets[0], sets[1], [6, 5], [0x65, 0x88]])
        // Later key frames have no sets and get the stored ones.
        let later = try #require(assemble(&assembler, [[9, 0xF0], [0x65, 0x88]]))
        #expect(units(later) == [sets[0], sets[1], [0x65, 0x88]])
        #expect(!later.didChangeParameterSets)
        // 0x9A…: first_mb 0, slice_type 5 (P).
        let other = try #require(assemble(&assembler, [[9, 0xF0], [0x41, 0x9A, 1]], isMarkedKey: true))
        #expect(!other.isKeyFrame)
        #expect(units(other) == [[0x41, 0x9A, 1]])
        // An I picture with a recovery point that the container or the parser marks: 0x88 is slice_type 7.
        let recovery = try #require(assemble(&assembler, [[6, 6, 1, 4], [0x41, 0x88, 1]], isMarkedKey: true))
        #expect(recovery.isKeyFrame && !recovery.startsSequence)
        // A changed picture parameter set between key frames stays in place, and is used from then on.
        let changed = sets[1] + [0x80]
        let middle = try #require(assemble(&assembler, [changed, [0x41, 0x9A, 1]]))
        #expect(units(middle) == [changed, [0x41, 0x9A, 1]])
        #expect(middle.didChangeParameterSets)
        #expect(units(try #require(assemble(&assembler, [[0x65, 0x88]]))) == [sets[0], changed, [0x65, 0x88]])
        #expect(assemble(&assembler, [sets[0]]) == nil)
    }

    @Test(
        "A decoder configuration record is written and parsed back",
        arguments: [Clips.h264, Clips.h265, Clips.bFrames])
    func records(_ clip: String) throws {
        let video = try #require(try MediaDemuxer(url: clip).video)
        let record = DecoderConfiguration.record(codec: video.codec, parameterSets: video.parameterSets)
        let read = DecoderConfiguration(codec: video.codec, extradata: record)
        #expect(read.parameterSets == video.parameterSets)
        #expect(read.framing == .lengths(size: 4))
    }

    @Test("AudioSpecificConfig: LC, HE-AAC with explicit signalling, malformed")
    func audioSpecificConfig() throws {
        // ISO/IEC 14496-3 §1.6.2.1: 2, 44.1 kHz, stereo.
        let plain = try #require(AudioSpecificConfig([0x12, 0x10]))
        #expect(plain.objectType == 2)
        #expect(plain.coreSampleRate == 44100)
        #expect(plain.channels == 2)
        #expect(plain.extensionSampleRate == nil)
        // 5 (SBR), core 24 kHz, stereo, extension 48 kHz, then 2.
        let high = try #require(AudioSpecificConfig([0x2B, 0x11, 0x88, 0]))
        #expect(high.objectType == 2)
        #expect(high.coreSampleRate == 24000)
        #expect(high.extensionSampleRate == 48000)
        #expect(AudioSpecificConfig([]) == nil)
        #expect(AudioSpecificConfig([0x17]) == nil)
        #expect(AudioSpecificConfig([0x17, 0x00]) == nil)  // a reserved sample rate
    }

    @Test("ADTS: fields and the resulting configuration")
    func adts() throws {
        // 16 kHz, mono, LC, no checksum, 0x105 bytes.
        let bytes: [UInt8] = [0xFF, 0xF1, 0x60, 0x40, 0x20, 0xBF, 0xFC]
        let header = try #require(bytes.withUnsafeBytes { ADTSHeader($0) })
        #expect(header.length == 7)
        #expect(header.frameLength == 0x105)
        #expect(header.sampleRate == 16000)
        #expect(header.channelConfiguration == 1)
        #expect(header.accessUnits == 1)
        #expect(header.audioSpecificConfig == [0x14, 0x08])
        #expect([0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C, 0].withUnsafeBytes { ADTSHeader($0) } == nil)
    }

    private func split(_ bytes: some Collection<UInt8>, _ framing: NALUnitFraming) -> [[UInt8]] {
        let bytes = Array(bytes)
        return bytes.withUnsafeBytes { buffer in framing.ranges(in: buffer).map { Array(buffer[$0]) } }
    }

    private func assemble(
        _ assembler: inout AccessUnitAssembler, _ units: [[UInt8]], isMarkedKey: Bool = false
    ) -> AccessUnitAssembler.AccessUnit? {
        let bytes: [UInt8] = units.reduce(into: []) { $0 += [0, 0, 0, 1] + $1 }
        return bytes.withUnsafeBytes { assembler.assemble($0, isMarkedKey: isMarkedKey) }
    }

    private func units(_ unit: AccessUnitAssembler.AccessUnit) -> [[UInt8]] {
        NALUnitSequence(unit.bytes).map { Array($0.readableBytesView) }
    }
}

/// Writes bits in the format that `BitReader` reads.
private struct BitWriter {
    private var text = ""

    mutating func bits(_ value: Int, _ count: Int) {
        let digits = String(value, radix: 2)
        text += String(repeating: "0", count: count - digits.count) + digits
    }

    mutating func ue(_ value: Int) {
        let digits = String(value + 1, radix: 2)
        text += String(repeating: "0", count: digits.count - 1) + digits
    }

    func finished() -> [UInt8] {
        var text = text + "1"
        while text.count % 8 != 0 { text += "0" }
        return stride(from: 0, to: text.count, by: 8).map { offset in
            UInt8(text.dropFirst(offset).prefix(8), radix: 2) ?? 0
        }
    }
}
