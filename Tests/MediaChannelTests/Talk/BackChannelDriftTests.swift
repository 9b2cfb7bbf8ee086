import IoTCore
import MediaCodec
import NIOCore
import RTP
import RTSP
import TestSupport
import Testing

@testable import MediaChannel

/// Half an hour of speech in virtual time: from a sender whose clock is wrong, through the pacer of the loudspeaker and the
/// packets of a camera's profile, to what the camera plays.
@Suite struct BackChannelDriftTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var tool: String?
        var payloadType: UInt8
        /// Samples that the camera buffers before it begins to play.
        var buffer: Int
        var partsPerMillion: Double
    }

    private static let kinds = [
        Kind(testDescription: "plain", tool: nil, payloadType: 0, buffer: 800, partsPerMillion: 100),
        Kind(testDescription: "4 s of buffer", tool: nil, payloadType: 8, buffer: 32_000, partsPerMillion: -100),
        Kind(
            testDescription: "1,024-byte packets, zero time stamps", tool: "BC Streaming Media v202210012022.10.01",
            payloadType: 8, buffer: 2_048, partsPerMillion: 100),
    ]

    private static let start = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private static let rate = 8_000
    /// A period of a second tells the delay up to half a second.
    private static let period = 8_000

    /// Noise below about 500 Hz, which resembles itself only at the same place: what was sent at each sample of a second.
    private static let second = {
        var generator = SeededGenerator(seed: 3)
        let noise = (0..<period).map { _ in Int.random(in: -4_000...4_000, using: &generator) }
        return noise.indices.map { index in
            Int16((0..<8).reduce(0) { $0 + noise[(index + $1) % period] })
        }
    }()

    /// The place in `second` at which `heard` is found, near `expected`.
    private static func place(
        _ heard: ArraySlice<Int16>, near expected: Int, within: Int
    ) -> (place: Int, match: Double) {
        var best = (place: 0, match: -1.0)
        for shift in -within...within {
            var (product, one, other) = (0.0, 0.0, 0.0)
            for (offset, sample) in heard.enumerated() {
                let reference = Double(second[((expected + shift + offset) % period + period) % period])
                product += Double(sample) * reference
                one += Double(sample) * Double(sample)
                other += reference * reference
            }
            let match = product / max(1, (one * other).squareRoot())
            if match > best.match { best = (expected + shift, match) }
        }
        return best
    }

    @Test(
        "For half an hour at 100 ppm, a camera plays all that is said in one piece, and its delay changes by 20 ms at most",
        arguments: kinds)
    func drift(kind: Kind) throws {
        let name = kind.payloadType == 0 ? "PCMU" : "PCMA"
        let codec = RTPCodec(payloadType: kind.payloadType, encodingName: name, clockRate: Self.rate)
        let format = try #require(BackChannelFormat(codec))
        var feed = BackChannelFeed(format, BackChannelProfile(format, tool: kind.tool))
        var pacer = SpeechPacer(SpeechPacer.Options(sampleRate: Self.rate), start: Self.start)
        var generator = SeededGenerator(seed: 7)
        let senderRate = 1 + kind.partsPerMillion / 1_000_000
        func arrival(_ index: Int) -> NIODeadline {
            Self.start + .nanoseconds(Int64(Double(index) * 20_000_000 / senderRate))
                + .microseconds(Int64.random(in: 0..<15_000, using: &generator))
        }
        var (sent, nextArrival) = (0, arrival(0))
        var buffered: [Int16] = []
        var (isPlaying, played, missing) = (false, 0, 0)
        var window: [Int16] = []
        var delays: [Double] = []
        var worstMatch = 1.0
        for tick in 0..<30 * 60 * 50 {
            let now = Self.start + .milliseconds(20) * tick
            while nextArrival <= now {
                let begin = sent * 160 % Self.period
                pacer.push(Array(Self.second[begin..<begin + 160]), at: nextArrival)
                sent += 1
                nextArrival = arrival(sent)
            }
            while let frame = pacer.nextFrame(at: now) {
                guard played > 0 || !frame.isSilent else { continue }
                feed.push(frame.samples, at: now)
                played += 1
            }
            while let samples = feed.next(at: now) { buffered += samples }
            if buffered.count >= kind.buffer { isPlaying = true }
            guard isPlaying else { continue }
            missing += max(0, 160 - buffered.count)
            let frame = Array(buffered.prefix(160))
            buffered.removeFirst(frame.count)
            // Five times in a minute, the delay is measured in a window of 40 ms.
            if tick % 600 < 2, tick >= 1_200 { window += frame }
            guard tick % 600 == 2, window.count == 320 else { continue }
            // What the sender says at the time of the window's begin.
            let said = Double(tick - 2) * 160 * senderRate
            let rough = delays.last.map { said - $0 } ?? said
            let (place, match) = Self.place(window[...], near: Int(rough), within: delays.isEmpty ? 4_000 : 200)
            worstMatch = min(worstMatch, match)
            delays.append(said - Double(place))
            window = []
        }
        let range = try #require(delays.max()) - (try #require(delays.min()))
        #expect(delays.count > 140 && range <= 0.020 * Double(Self.rate), "\(range / 8) ms")
        // A place between two samples gives 0.95, a gap of half a window 0.7.
        #expect(worstMatch > 0.94, "\(worstMatch)")
        #expect(missing <= Self.rate * 40 / 1_000, "\(missing / 8) ms were not played")
        #expect(pacer.counters.underruns == 0 && pacer.counters.dropped == 0 && feed.dropped == 0)
    }
}
