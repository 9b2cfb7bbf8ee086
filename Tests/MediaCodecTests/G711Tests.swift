import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

@Suite struct G711Tests {
    /// libav chooses the nearer code. G.711's decision values, which are the limits of its segments, differ from that for
    /// 964 samples.
    @Test(
        "Every sample has a code within half a step, which is libav's or the next one",
        arguments: [AudioCodec.pcmu, .pcma])
    func allSamples(codec: AudioCodec) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = (Int16.min...Int16.max).map { $0 }
        let file = folder.appendingPathComponent("samples").path
        try samples.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: file))
        let reference = try FFmpegTool.run([
            "-f", "s16le", "-ar", "8000", "-ac", "1", "-i", file, "-f", codec == .pcmu ? "mulaw" : "alaw", "-",
        ])
        #expect(reference.count == samples.count)
        let encode = codec == .pcmu ? G711.muLaw : G711.aLaw
        let values = try decoded(codec)
        let inversion: UInt8 = codec == .pcmu ? 0xFF : 0x55
        var different = 0
        for (sample, other) in zip(samples, reference) {
            let code = encode(sample)
            if code != other { different += 1 }
            let (magnitude, otherMagnitude) = ((code ^ inversion) & 0x7F, (other ^ inversion) & 0x7F)
            let isNext = abs(Int(magnitude) - Int(otherMagnitude)) <= 1 && (code ^ other) & 0x80 == 0
            let segment = magnitude >> 4
            let halfStep = codec == .pcmu ? 4 << Int(segment) : 8 << max(0, Int(segment) - 1)
            let isClipped = codec == .pcmu && abs(Int(sample)) > 32_124
            let isNear = isClipped || abs(Int(values[Int(code)]) - Int(sample)) <= halfStep
            #expect(isNext && isNear, "\(sample): \(code), libav \(other)")
        }
        #expect(different == 964)
    }

    @Test("The codes of ITU-T G.711's tables: zero, the ends, and the coding of each decoded value")
    func tables() throws {
        #expect([0, 32_767, -32_768, -1].map(G711.muLaw) == [0xFF, 0x80, 0x00, 0x7F])
        #expect([0, 32_767, -32_768, -1].map(G711.aLaw) == [0xD5, 0xAA, 0x2A, 0x55])
        for codec in [AudioCodec.pcmu, .pcma] {
            let values = try decoded(codec)
            for code in 0...255 as ClosedRange<UInt8> {
                // µ-law has two codes for zero.
                let expected = codec == .pcmu && code == 0x7F ? 0xFF : code
                let again = codec == .pcmu ? G711.muLaw(values[Int(code)]) : G711.aLaw(values[Int(code)])
                #expect(again == expected, "\(codec) \(code)")
            }
        }
    }

    /// The samples of all codes, by libav's decoder.
    private func decoded(_ codec: AudioCodec) throws -> [Int16] {
        let decoder = try AudioDecoder(AudioParameters(codec: codec, sampleRate: 8_000, channels: 1))
        let frame = MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: 0...255))
        return try decoder.decode(frame).flatMap { buffer in
            buffer.samples.withUnsafeReadableBytes { Array($0.bindMemory(to: Int16.self)) }
        }
    }

    @Test("Speech of 48 kHz becomes packets of each codec with its length", arguments: [8_000, 16_000])
    func talk(rate: Int) throws {
        for codec in [AudioCodec.pcmu, .aac] {
            let config = AudioSpecificConfig.lowComplexity(sampleRate: rate, channels: 2) ?? []
            let encoder = try TalkEncoder(
                AudioParameters(
                    codec: codec, sampleRate: rate, channels: codec == .aac ? 2 : 1,
                    audioSpecificConfig: codec == .aac ? config : []))
            var samples: [Int16] = []
            for frame in 0..<50 {
                samples += try encoder.resample(
                    (0..<960).map { Int16(truncatingIfNeeded: ($0 + frame * 960) % 96 * 300) })
            }
            #expect(abs(samples.count - rate) < rate / 100)
            let size = codec == .aac ? 1_024 : 160
            let packets = try stride(from: 0, to: samples.count - size, by: size).flatMap {
                try encoder.encode(Array(samples[$0..<$0 + size]))
            }
            #expect(packets.count >= samples.count / size - 3)
            #expect(packets.allSatisfy { codec == .aac ? $0.readableBytes > 20 : $0.readableBytes == size })
        }
        #expect(throws: IoTError.self) {
            try TalkEncoder(AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1))
        }
    }
}
