import Foundation
import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import MediaCodec

@Suite struct SpeechLossTests {
    private static func speech() throws -> [Int16] {
        let reader = try SoundReader(.file(Clips.speech))
        var sound: [Int16] = []
        while let samples = try reader.read() { sound += samples }
        return sound
    }

    /// 10,000 samples per second.
    private static func forMeasuring(_ sound: [Int16]) throws -> [Double] {
        let converter = try AudioConverter(sampleRate: 10_000, channels: 1)
        var bytes = ByteBuffer()
        for sample in sound { bytes.writeInteger(sample, endianness: .little) }
        var result = try converter.convert(AudioBuffer(pts: 0, sampleRate: 48_000, channels: 1, samples: bytes)).samples
        if var rest = try converter.flush()?.samples { result.writeBuffer(&rest) }
        return (0..<result.readableBytes / 2).compactMap { _ in
            result.readInteger(endianness: .little, as: Int16.self).map(Double.init)
        }
    }

    /// The intelligibility of the speech after a network that loses every tenth packet at random.
    private static func intelligibility(of sound: [Int16], usesFEC: Bool?, seed: UInt64) throws -> Double {
        // The default is what talk uses.
        let encoder = try usesFEC.map { try SpeechEncoder(usesFEC: $0) } ?? SpeechEncoder()
        let decoder = try SpeechDecoder()
        var generator = SeededGenerator(seed: seed)
        var heard: [Int16] = []
        var missing = 0
        for start in stride(from: 0, through: sound.count - 960, by: 960) {
            let packet = try sound[start..<start + 960].withUnsafeBufferPointer { try encoder.encode($0) }
            guard let packet, Int.random(in: 0..<10, using: &generator) != 0 else {
                missing += 960
                continue
            }
            let recovered = decoder.recover(from: packet, sampleCount: missing)
            heard += recovered + [Int16](repeating: 0, count: missing - recovered.count)
            missing = 0
            heard += decoder.decode(packet)
        }
        // libopus delays the sound by 6.5 ms.
        let degraded = try forMeasuring(Array(heard.dropFirst(312)))
        let clean = try forMeasuring(sound)
        let count = min(clean.count, degraded.count)
        return STOI.score(clean: Array(clean[..<count]), degraded: Array(degraded[..<count]))
    }

    @Test("With 10 % loss, speech with FEC is more intelligible (STOI) than without", arguments: [1, 2, 3] as [UInt64])
    func loss(seed: UInt64) throws {
        let sound = try Self.speech()
        let with = try Self.intelligibility(of: sound, usesFEC: nil, seed: seed)
        let without = try Self.intelligibility(of: sound, usesFEC: false, seed: seed)
        #expect(with > 0.965, "\(with)")
        #expect(with > without + 0.015, "\(with), and without FEC \(without)")
    }
}
