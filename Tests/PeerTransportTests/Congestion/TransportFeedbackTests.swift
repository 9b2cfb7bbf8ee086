import NIOCore
import RTP
import TestSupport
import Testing

@testable import PeerTransport

/// The receiver's recording of arrivals, and the sender's use of the feedback.
@Suite struct TransportFeedbackTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func bytes(_ message: RTCPTransportWideFeedback) -> ByteBuffer {
        var buffer = ByteBuffer()
        RTCPPacket.transportWideFeedback(message).write(into: &buffer)
        return buffer
    }

    @Test("The sender gets all arrivals and losses back, across the wrap of sequence numbers", arguments: 1...5)
    func roundTrip(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var recorder = ArrivalRecorder()
        var sent = SentPackets()
        var expected: [Int64: Int64] = [:]
        var acknowledged: [Int64: Int64] = [:]
        var lost: Set<Int64> = []
        var dropped: Set<Int64> = []
        // The receiver's clock is near the end of its 24 bits in units of 64 ms.
        let offset = TimeAmount.nanoseconds(64_000_000 * ((1 << 24) - 40))
        var now = start
        var number: Int64 = 0
        for _ in 0..<70_000 {
            number += 1
            #expect(sent.nextNumber == UInt16(truncatingIfNeeded: number))
            sent.note(byteCount: 1_000, content: .video, at: now)
            now = now + .microseconds(Int64.random(in: 200...2_000, using: &random))
            if number % 97 == 0 {
                dropped.insert(number)
            } else {
                recorder.note(UInt16(truncatingIfNeeded: number), at: now + offset)
                expected[number] = Int64((now + offset).uptimeNanoseconds / 250_000) * 250
            }
            if let due = recorder.deadline, now + offset >= due {
                for message in recorder.messages(at: now + offset, senderSSRC: 1, mediaSSRC: 2) {
                    let buffer = bytes(message)
                    #expect(buffer.readableBytes <= 1_150)
                    guard case .transportWideFeedback(let read) = try RTCPPacket.parseCompound(buffer).first else {
                        Issue.record("an unexpected message came back")
                        return
                    }
                    #expect(read == message)
                    for result in sent.results(of: read) {
                        if let arrival = result.arrival {
                            acknowledged[result.number] = arrival
                        } else {
                            lost.insert(result.number)
                        }
                    }
                }
            }
        }
        #expect(acknowledged.count > 69_000 - dropped.count && lost.isSubset(of: dropped))
        #expect(lost.count >= dropped.count - 4)
        // Each arrival is exact to a quarter of a millisecond, up to one constant offset.
        let differences = Set(acknowledged.map { $0.value - (expected[$0.key] ?? 0) })
        #expect(differences.count == 1)
    }

    @Test("A packet that was overtaken counts as late, not as lost")
    func late() {
        var recorder = ArrivalRecorder()
        var sent = SentPackets()
        for _ in 0..<6 { sent.note(byteCount: 500, content: .video, at: start) }
        for number: UInt16 in [1, 2, 4] { recorder.note(number, at: start) }
        var results: [PacketResult] = []
        for message in recorder.messages(at: start + .milliseconds(100), senderSSRC: 1, mediaSSRC: 2) {
            results += sent.results(of: message)
        }
        #expect(results.map(\.number) == [1, 2, 4])
        for number: UInt16 in [3, 6] { recorder.note(number, at: start + .milliseconds(110)) }
        // One message reports both packets, because two messages could overtake each other.
        let messages = recorder.messages(at: start + .milliseconds(300), senderSSRC: 1, mediaSSRC: 2)
        #expect(messages.map(\.baseSequenceNumber) == [3])
        for message in messages { results += sent.results(of: message) }
        #expect(results.map(\.number) == [1, 2, 4, 3, 6])
        #expect(results.allSatisfy { $0.arrival != nil })
        #expect(sent.bytesInFlight == 500)
    }

    @Test("A packet more than 128 numbers late is not reported")
    func muchTooLate() {
        var recorder = ArrivalRecorder()
        for number: UInt16 in 1...200 where number != 60 && number != 80 { recorder.note(number, at: start) }
        _ = recorder.messages(at: start + .milliseconds(100), senderSSRC: 1, mediaSSRC: 2)
        for number: UInt16 in [60, 80, 201] { recorder.note(number, at: start + .milliseconds(110)) }
        let messages = recorder.messages(at: start + .milliseconds(300), senderSSRC: 1, mediaSSRC: 2)
        #expect(messages.map(\.baseSequenceNumber) == [80])
        #expect(messages.first?.statuses.count == 122)
    }

    @Test("Messages are sent 50 to 100 ms after the first packet that they report")
    func interval() {
        var recorder = ArrivalRecorder()
        #expect(recorder.deadline == nil)
        recorder.note(1, at: start)
        #expect(recorder.deadline == start + .milliseconds(100))
        for number: UInt16 in 2...30 { recorder.note(number, at: start) }
        #expect(recorder.deadline == start + .milliseconds(50))
        for number: UInt16 in 31...500 { recorder.note(number, at: start) }
        #expect(recorder.deadline == start)
        #expect(!recorder.messages(at: start, senderSSRC: 1, mediaSSRC: 2).isEmpty)
        #expect(recorder.deadline == nil)
    }

    @Test("Random feedback never traps and acknowledges only packets that were sent", arguments: 1...20)
    func noise(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var sent = SentPackets()
        var recorder = ArrivalRecorder()
        var total = 0
        for step in 0..<300 {
            let now = start + .milliseconds(Int64(step))
            sent.note(byteCount: 100, content: .video, at: now)
            recorder.note(UInt16.random(in: 0 ... .max, using: &random), at: now)
            _ = recorder.messages(at: now, senderSSRC: 1, mediaSSRC: 2)
            let statuses = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? RTCPTransportWideFeedback.Status.missing
                    : .received(delta: .random(in: .min ... .max, using: &random))
            }
            let message = RTCPTransportWideFeedback(
                senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: .random(in: 0 ... .max, using: &random),
                referenceTime: .random(in: -0x80_0000...0x7F_FFFF, using: &random), feedbackCount: 0,
                statuses: statuses)
            total += sent.results(of: message).count
            #expect(sent.bytesInFlight >= 0)
        }
        #expect(total <= 300)
        var estimator = BandwidthEstimator(CongestionConfiguration())
        for step in 0..<300 {
            let now = start + .milliseconds(Int64(step))
            estimator.noteSent(byteCount: 1_200, content: .video, at: now)
            let message = RTCPTransportWideFeedback(
                senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: UInt16(step),
                referenceTime:
                    .random(in: -0x80_0000...0x7F_FFFF, using: &random), feedbackCount: 0,
                statuses: [.received(delta: .random(in: .min ... .max, using: &random)), .missing])
            estimator.handle(message, roundTrip: .milliseconds(50), at: now)
            #expect((100_000...200_000_000).contains(estimator.target))
        }
    }

    @Test("Without transport-wide feedback, REMB and reported loss are used")
    func fallback() {
        var estimator = BandwidthEstimator(CongestionConfiguration())
        estimator.handle(RTCPReceiverEstimate(senderSSRC: 1, bitrate: 2_000_000, ssrcs: [2]))
        #expect(estimator.target == 2_000_000)
        estimator.handle(reportedLoss: 0.2)
        #expect(estimator.target == 1_800_000)
        estimator.handle(RTCPReceiverEstimate(senderSSRC: 1, bitrate: 1_000_000, ssrcs: [2]))
        #expect(estimator.target == 1_000_000)
        // A value above every integer is bounded and does not trap.
        var greedy = BandwidthEstimator(CongestionConfiguration())
        greedy.handle(RTCPReceiverEstimate(senderSSRC: 1, bitrate: .max, ssrcs: []))
        #expect(greedy.target == 200_000_000)
        greedy.handle(RTCPReceiverEstimate(senderSSRC: 1, bitrate: 0, ssrcs: []))
        #expect(greedy.target == 100_000)
        for _ in 0..<20 { estimator.handle(reportedLoss: 0) }
        estimator.handle(RTCPReceiverEstimate(senderSSRC: 1, bitrate: 5_000_000, ssrcs: [2]))
        #expect(estimator.target >= 2_000_000)
    }

    @Test("The input rate covers the last second, at any start time")
    func inputRate() {
        var rate = InputRate()
        var now = NIODeadline.uptimeNanoseconds(0)
        for _ in 0..<40 {
            rate.note(byteCount: 1_000, at: now)
            now = now + .milliseconds(50)
        }
        #expect((140_000...170_000).contains(rate.bitrate(at: now)))
        #expect(rate.bitrate(at: now + .seconds(5)) == 0)
    }
}

extension SentContent {
    /// For tests that do not depend on the content.
    static let video = SentContent(track: 0, isRepair: false, number: 0)
}
