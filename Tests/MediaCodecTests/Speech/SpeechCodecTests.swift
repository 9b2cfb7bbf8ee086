import Foundation
import IoTCore
import TestSupport
import Testing

@testable import MediaCodec

@Suite struct SpeechCodecTests {
    private static func packets(_ sound: [Int16], _ encoder: SpeechEncoder) throws -> [[UInt8]?] {
        try stride(from: 0, through: sound.count - 960, by: 960).map { start in
            try sound[start..<start + 960].withUnsafeBufferPointer { try encoder.encode($0) }
        }
    }

    /// The highest correlation over delays up to 20 ms.
    private static func correlation(_ a: ArraySlice<Int16>, _ b: ArraySlice<Int16>) -> Double {
        let a = a.map { Double($0) }
        let b = b.map { Double($0) }
        return stride(from: 0, to: 960, by: 4).map { delay in
            var (product, first, second) = (0.0, 0.0, 0.0)
            for index in stride(from: 0, to: a.count - delay, by: 3) where index + delay < b.count {
                product += a[index] * b[index + delay]
                first += a[index] * a[index]
                second += b[index + delay] * b[index + delay]
            }
            return product / max(1, (first * second).squareRoot())
        }.max() ?? 0
    }

    @Test("Speech keeps its form and its length")
    func form() throws {
        let sound = SyntheticVoice.samples(seconds: 2)
        let decoder = try SpeechDecoder()
        let decoded = try Self.packets(sound, SpeechEncoder(usesDTX: false)).flatMap {
            decoder.decode(try #require($0))
        }
        #expect(decoded.count == sound.count)
        let similarity = Self.correlation(sound[4_800..<43_200], decoded[4_800..<43_200])
        #expect(similarity > 0.8, "\(similarity)")
    }

    @Test("A lost packet comes back from the FEC of the next one; without FEC it is only guessed")
    func recovery() throws {
        let sound = SyntheticVoice.samples(seconds: 6)
        func similarity(usesFEC: Bool) throws -> Double {
            let packets = try Self.packets(sound, SpeechEncoder(usesFEC: usesFEC, usesDTX: false)).map {
                try #require($0)
            }
            let reference = try SpeechDecoder()
            let decoder = try SpeechDecoder()
            var wanted: [Int16] = []
            var recovered: [Int16] = []
            for (index, packet) in packets.enumerated() {
                let sound = reference.decode(packet)
                if index % 7 == 3 {
                    wanted += sound
                    recovered += decoder.recover(from: packets[index + 1])
                } else {
                    _ = decoder.decode(packet)
                }
            }
            #expect(recovered.count == wanted.count)
            let product = zip(wanted, recovered).reduce(0.0) { $0 + Double($1.0) * Double($1.1) }
            let energy = wanted.reduce(0.0) { $0 + Double($1) * Double($1) }
            let other = recovered.reduce(0.0) { $0 + Double($1) * Double($1) }
            return product / (energy * other).squareRoot()
        }
        let with = try similarity(usesFEC: true)
        let without = try similarity(usesFEC: false)
        #expect(with > 0.9, "\(with)")
        #expect(without < with - 0.1, "\(without), with FEC \(with)")
    }

    @Test("Silence is not sent with DTX, but one frame in 400 ms; without DTX all of it is")
    func silence() throws {
        let sound = SyntheticVoice.samples(seconds: 0.8) + [Int16](repeating: 0, count: 48_000 * 4)
        let packets = try Self.packets(sound, SpeechEncoder())
        #expect(packets.prefix(35).allSatisfy { $0 != nil })
        #expect((8...12).contains(packets.suffix(160).filter { $0 != nil }.count))
        #expect(try Self.packets(sound, SpeechEncoder(usesDTX: false)).allSatisfy { $0 != nil })
    }

    @Test("A concealed gap has the asked length and goes on with the sound")
    func concealment() throws {
        let decoder = try SpeechDecoder()
        for packet in try Self.packets(SyntheticVoice.samples(seconds: 0.4), SpeechEncoder()) {
            if let packet { _ = decoder.decode(packet) }
        }
        let sound = decoder.conceal(2_400)
        #expect(sound.count == 2_400 && sound.contains { abs(Int($0)) > 1_000 })
        #expect(decoder.conceal(1_000).count == 960 && decoder.conceal(119).isEmpty && decoder.conceal(-1).isEmpty)
        #expect(decoder.conceal(.max).count == SpeechDecoder.longestGap)
    }

    @Test("Packets of strangers yield sound or nothing")
    func damage() throws {
        let decoder = try SpeechDecoder()
        var generator = SeededGenerator(seed: 3)
        #expect(decoder.decode([]).isEmpty)
        for _ in 0..<2_000 {
            let packet = generator.bytes(Int.random(in: 1...200, using: &generator))
            #expect(decoder.decode(packet).count <= 5_760)
            let gap = Int.random(in: 0...5_000, using: &generator)
            #expect(decoder.recover(from: packet, sampleCount: gap).count == gap / 120 * 120)
        }
    }

    @Test("Wrong settings and frames are refused")
    func refused() throws {
        #expect(throws: IoTError.self) { _ = try SpeechEncoder(bitrate: 1) }
        #expect(throws: IoTError.self) { _ = try SpeechEncoder(expectedLoss: 101) }
        let encoder = try SpeechEncoder()
        #expect(throws: IoTError.self) {
            try [Int16](repeating: 0, count: 959).withUnsafeBufferPointer { _ = try encoder.encode($0) }
        }
    }
}
