import IoTCore
import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import RTP

/// Tests the receiver alone, packet by packet.
@Suite struct RTPReceiverTests {
    private let start = NIODeadline.uptimeNanoseconds(50_000_000_000)

    private func time(_ milliseconds: Int64) -> NIODeadline { start + .milliseconds(milliseconds) }

    private func receiver(
        _ codecs: [RTPCodec] = [MediaFixtures.pcma], configure: (inout RTPReceiverConfiguration) -> Void = { _ in }
    ) throws -> RTPReceiver {
        var configuration = RTPReceiverConfiguration(localSSRC: 1, canonicalName: "me")
        configure(&configuration)
        return try RTPReceiver(codecs: codecs, configuration: configuration)
    }

    /// A packet with its own sequence number as the payload.
    private func packet(
        _ number: UInt16, type: UInt8 = 8, ssrc: UInt32 = 7, timestamp: UInt32? = nil, payload: [UInt8]? = nil
    ) -> RTPPacket {
        RTPPacket(
            payloadType: type, marker: false, sequenceNumber: number, timestamp: timestamp ?? UInt32(number) * 160,
            ssrc: ssrc, payload: ByteBuffer(bytes: payload ?? [UInt8(number >> 8), UInt8(number & 0xFF)]))
    }

    private struct Drained {
        var numbers: [Int] = []
        /// Like `numbers`, with −1 for each `.frameLost`.
        var sequence: [Int] = []
        var rtcp: [RTCPPacket] = []
        var timeout: NIODeadline?
        var discontinuities = 0

        var lost: [UInt16] {
            rtcp.flatMap { packet -> [UInt16] in
                if case .genericNACK(let nack) = packet { nack.lostSequenceNumbers } else { [] }
            }
        }
        var plis: Int {
            rtcp.count { if case .pictureLossIndication = $0 { true } else { false } }
        }
        var reports: [RTCPReceptionReport] {
            rtcp.flatMap { packet -> [RTCPReceptionReport] in
                if case .receiverReport(let report) = packet { report.reports } else { [] }
            }
        }
    }

    private func drain(_ receiver: inout RTPReceiver) -> Drained {
        var drained = Drained()
        for _ in 0..<100_000 {
            switch receiver.poll() {
            case .frame(let received):
                let number = Int(received.frame.bytes.getInteger(at: 0, as: UInt16.self) ?? 0)
                drained.numbers.append(number)
                drained.sequence.append(number)
                if received.frame.isDiscontinuity { drained.discontinuities += 1 }
            case .frameLost: drained.sequence.append(-1)
            case .rtcp(let packets): drained.rtcp += packets
            case .timeout(let time):
                drained.timeout = time
                return drained
            case nil: return drained
            }
        }
        Issue.record("the receiver's output never ends")
        return drained
    }

    @Test("Frames are returned in order across a wrap, and duplicates are dropped")
    func order() throws {
        var receiver = try receiver()
        for number: UInt16 in [65_534, 0, 65_535, 65_535, 2, 1, 0, 3] {
            receiver.handle(packet(number), at: time(0))
        }
        #expect(drain(&receiver).sequence == [65_534, 65_535, 0, 1, 2, 3])
        #expect(receiver.statistics.packetsDuplicated == 2)
        #expect(receiver.statistics.packetsReceived == 8)
    }

    @Test("Timestamps are unwrapped in both directions")
    func timestamps() throws {
        var receiver = try receiver()
        var times: [Int64] = []
        for (index, timestamp) in [0xFFFF_FF00, 0x100, 0xFFFF_FFFF, 0x7000_0000].enumerated() {
            receiver.handle(packet(UInt16(index), timestamp: UInt32(timestamp)), at: time(0))
            if case .frame(let frame) = receiver.poll() {
                times.append(frame.rtpTimestamp)
                #expect(frame.frame.pts == frame.rtpTimestamp * 125)
            }
        }
        #expect(times == [0xFFFF_FF00, 0x1_0000_0100, 0xFFFF_FFFF, 0x1_7000_0000])
    }

    @Test("A gap is requested after the reordering delay, twice after each further round trip, and then given up")
    func requests() throws {
        var receiver = try receiver { $0.maximumNACKs = 5 }
        receiver.handle(packet(10), at: time(0))
        receiver.handle(packet(13), at: time(1))
        var drained = drain(&receiver)
        #expect(drained.numbers == [10] && drained.rtcp.isEmpty)
        #expect(drained.timeout == time(6))
        var requested: [(Int64, [UInt16])] = []
        var sequence: [Int] = []
        for _ in 0..<20 {
            guard let now = drained.timeout, now < time(900) else { break }
            receiver.handleTimeout(at: now)
            drained = drain(&receiver)
            #expect(drained.timeout != now, "a handled timeout must not repeat")
            if !drained.lost.isEmpty { requested.append(((now - start).nanoseconds / 1_000_000, drained.lost)) }
            sequence += drained.sequence
        }
        #expect(requested.map(\.0) == [6, 106, 111, 211, 216])
        #expect(requested.allSatisfy { $0.1 == [11, 12] })
        #expect(sequence == [-1, 13])
        #expect(receiver.statistics.packetsGivenUp == 2 && receiver.statistics.nackCount == 5)
        // A retransmission that is too late is counted and discarded.
        receiver.handle(packet(11), at: time(700))
        #expect(drain(&receiver).numbers.isEmpty)
        #expect(receiver.statistics.packetsDiscarded == 1 && receiver.statistics.packetsDuplicated == 0)
        #expect(receiver.statistics.packetsLost == 1)
    }

    @Test("Reordered packets are not requested, and the delay adapts to their lateness")
    func reordering() throws {
        var receiver = try receiver()
        receiver.handle(packet(0), at: time(0))
        receiver.handle(packet(2), at: time(0))
        receiver.handle(packet(1), at: time(4))
        #expect(drain(&receiver).numbers == [0, 1, 2])
        #expect(receiver.statistics.nackCount == 0)
        // This packet is later than the delay, so it is requested once.
        receiver.handle(packet(4), at: time(10))
        receiver.handleTimeout(at: time(15))
        receiver.handle(packet(3), at: time(16))
        #expect(receiver.statistics.nackCount == 1 && receiver.statistics.retransmittedPacketsReceived == 1)
    }

    @Test("Scattered gaps are requested in one message")
    func together() throws {
        var receiver = try receiver()
        for number: UInt16 in [0, 2, 4, 6] { receiver.handle(packet(number), at: time(0)) }
        receiver.handleTimeout(at: time(5))
        let drained = drain(&receiver)
        #expect(drained.lost == [1, 3, 5] && drained.rtcp.count == 1)
    }

    @Test("Without reduced-size RTCP, feedback is sent in a full compound packet")
    func compoundFeedback() throws {
        var receiver = try receiver { $0.isReducedSizeAllowed = false }
        receiver.handle(packet(0), at: time(0))
        receiver.handle(packet(2), at: time(0))
        receiver.handleTimeout(at: time(5))
        let kinds = drain(&receiver).rtcp
        #expect(kinds.count == 3)
        if case .receiverReport = kinds.first {} else { Issue.record("no report first") }
    }

    @Test("The reorder buffer is bounded: when it is full, the oldest gap is given up")
    func bounded() throws {
        var receiver = try receiver { $0.maximumBufferedPackets = 64 }
        receiver.handle(packet(0), at: time(0))
        for number: UInt16 in 2..<70 { receiver.handle(packet(number), at: time(0)) }
        let sequence = drain(&receiver).sequence
        #expect(sequence == [0, -1] + Array(2..<70))
    }

    @Test("A gap that is too long to recover is given up at once")
    func longGap() throws {
        var receiver = try receiver { $0.maximumMissingPackets = 100 }
        receiver.handle(packet(0), at: time(0))
        receiver.handle(packet(300), at: time(0))
        #expect(drain(&receiver).sequence == [0, -1, 300])
    }

    @Test("The receiver switches to a new source when a second packet confirms it, and loses nothing")
    func newSource() throws {
        var receiver = try receiver()
        for number: UInt16 in 0..<3 { receiver.handle(packet(number), at: time(0)) }
        receiver.handle(packet(500, ssrc: 9), at: time(1))
        receiver.handle(packet(3), at: time(1))
        #expect(receiver.remoteSSRC == 7)
        receiver.handle(packet(501, ssrc: 9), at: time(2))
        #expect(receiver.remoteSSRC == 9)
        let drained = drain(&receiver)
        #expect(drained.sequence == [0, 1, 2, 3, -1, 500, 501])
        #expect(drained.discontinuities == 1)
    }

    @Test("A source that restarts with a distant sequence number is followed after two packets; a stray packet is not")
    func restart() throws {
        var receiver = try receiver()
        for number: UInt16 in 0..<3 { receiver.handle(packet(number), at: time(0)) }
        receiver.handle(packet(30_000), at: time(1))
        receiver.handle(packet(3), at: time(1))
        #expect(drain(&receiver).sequence == [0, 1, 2, 3])
        receiver.handle(packet(40_000), at: time(2))
        receiver.handle(packet(40_001), at: time(2))
        receiver.handle(packet(40_002), at: time(2))
        #expect(drain(&receiver).sequence == [-1, 40_000, 40_001, 40_002])
    }

    @Test("Reports are sent once per second with the counts of RFC 3550 §A.3")
    func reports() throws {
        var receiver = try receiver { $0.isNACKEnabled = false }
        for number: UInt16 in 0..<50 where number % 10 != 5 {
            receiver.handle(packet(65_530 &+ number), at: time(Int64(number) * 20))
        }
        let sender = RTCPSenderReport(
            ssrc: 7, ntpTimestamp: 0x0001_0002_0003_0004, rtpTimestamp: 0, packetCount: 0, octetCount: 0)
        #expect(receiver.handle(senderReport: sender, at: time(500)) != nil)
        receiver.handleTimeout(at: time(1_000))
        let reports = drain(&receiver).reports
        #expect(reports.count == 1)
        #expect(reports.first?.ssrc == 7)
        #expect(reports.first?.highestSequence == UInt32(65_536 + 43))
        #expect(reports.first?.cumulativeLost == 5)
        #expect(reports.first?.fractionLost == 25)  // 5 of 50, in 256ths
        #expect(reports.first?.lastSenderReport == 0x0002_0003)
        #expect(reports.first?.delaySinceLastSenderReport == 32_768)
        receiver.handleTimeout(at: time(1_999))
        #expect(drain(&receiver).reports.isEmpty)
        receiver.handleTimeout(at: time(2_000))
        #expect(drain(&receiver).reports.first?.fractionLost == 0)
    }

    @Test("Jitter follows RFC 3550 §A.8")
    func jitter() throws {
        var receiver = try receiver()
        // Every other packet is 10 ms late: the difference is always 10 ms, and the mean approaches it.
        for number: UInt16 in 0..<200 {
            receiver.handle(packet(number), at: time(Int64(number) * 20 + (number % 2 == 0 ? 0 : 10)))
        }
        #expect(abs(receiver.statistics.jitter - 0.010) < 0.0005)
    }

    @Test("A sender report of another stream is ignored")
    func foreignReport() throws {
        var receiver = try receiver()
        receiver.handle(packet(0), at: time(0))
        let report = RTCPSenderReport(ssrc: 8, ntpTimestamp: 0, rtpTimestamp: 0, packetCount: 0, octetCount: 0)
        #expect(receiver.handle(senderReport: report, at: time(0)) == nil)
    }

    @Test("A report before the first packet uses the same unwrapped time as the packets")
    func earlyReport() throws {
        var receiver = try receiver()
        let ntp = NTPTime.timestamp(microseconds: 1_763_000_000_000_000)
        let report = RTCPSenderReport(
            ssrc: 7, ntpTimestamp: ntp, rtpTimestamp: 0xFFFF_FFF0, packetCount: 0, octetCount: 0)
        let taken = receiver.handle(senderReport: report, at: time(0))
        let mapping = try #require(taken)
        receiver.handle(packet(0, timestamp: 144), at: time(0))
        guard case .frame(let frame) = receiver.poll() else {
            Issue.record("no frame")
            return
        }
        // 160 ticks of 8 kHz after the report.
        #expect(mapping.senderTime(ofRTPTimestamp: frame.rtpTimestamp) == 1_763_000_000_020_000)
    }

    @Test("Key frames are requested after a loss, at most twice per second, and again until one arrives")
    func keyFrameRequests() throws {
        let key: [UInt8] = [0x65, 0x88, 0x80]
        let other: [UInt8] = [0x41, 0x88, 0x80]
        var receiver = try receiver([MediaFixtures.h264WithSets]) { $0.isNACKEnabled = false }
        func send(_ number: UInt16, _ payload: [UInt8], at milliseconds: Int64) {
            var packet = packet(number, type: 96, timestamp: UInt32(number) * 3_000, payload: payload)
            packet.marker = true
            receiver.handle(packet, at: time(milliseconds))
        }
        send(0, key, at: 0)
        send(2, other, at: 40)
        receiver.handleTimeout(at: time(100))
        #expect(drain(&receiver).plis == 1)
        send(4, other, at: 120)
        receiver.handleTimeout(at: time(180))
        #expect(drain(&receiver).plis == 0)
        receiver.handleTimeout(at: time(600))
        var drained = drain(&receiver)
        #expect(drained.plis == 1)
        #expect(receiver.statistics.framesLost == 2)
        // No key frame has arrived: the request is repeated after a second, until frames include a key frame.
        receiver.handleTimeout(at: time(1_600))
        #expect(drain(&receiver).plis == 1)
        send(5, key, at: 1_700)
        for step: Int64 in 2...20 {
            receiver.handleTimeout(at: time(step * 1_000))
            drained = drain(&receiver)
            #expect(drained.plis == 0)
        }
        receiver.requestKeyFrame(at: time(30_000))
        receiver.requestKeyFrame(at: time(30_001))
        #expect(drain(&receiver).plis == 1)
    }

    @Test("A damaged frame is reported as lost, and later frames are returned")
    func damagedFrame() throws {
        var receiver = try receiver([MediaFixtures.h264WithSets])
        for (number, payload) in [(0, [0x65, 0x88]), (1, [0x7C, 0x05, 1]), (2, [0x41, 0x88])] as [(UInt16, [UInt8])] {
            var packet = packet(number, type: 96, timestamp: UInt32(number) * 3_000, payload: payload)
            packet.marker = true
            receiver.handle(packet, at: time(0))
        }
        let drained = drain(&receiver)
        #expect(drained.sequence.count == 3 && drained.sequence[1] == -1)
        #expect(receiver.statistics.framesDamaged == 1)
    }

    private struct Part {
        var time: UInt32
        var payload: [UInt8]
        var marker = false
    }

    /// What follows a picture whose rest was not sent, and how many requests for a key frame this causes.
    private static let afterCut: [(parts: [Part], requests: Int)] = [
        ([Part(time: 2, payload: [0x7C, 0x85, 0x88]), Part(time: 2, payload: [0x7C, 0x45, 1], marker: true)], 0),
        ([Part(time: 2, payload: [0x65, 0x88], marker: true)], 0),
        ([Part(time: 2, payload: [0x41, 0x88], marker: true)], 1),
        // Parameter sets, but no key frame.
        ([Part(time: 2, payload: [0x67, 0x42]), Part(time: 2, payload: [0x41, 0x88], marker: true)], 1),
        // The key frame is cut short, too.
        ([Part(time: 2, payload: [0x7C, 0x85, 0x88]), Part(time: 3, payload: [0x41, 0x88], marker: true)], 1),
    ]

    @Test("A picture that is cut short for a key frame is lost without a request; for another picture, one is sent")
    func cutForKeyFrame() throws {
        let cut = [Part(time: 0, payload: [0x65, 0x88], marker: true), Part(time: 1, payload: [0x7C, 0x81, 0x88])]
        for (parts, requests) in Self.afterCut {
            var receiver = try receiver([MediaFixtures.h264WithSets])
            for (number, part) in (cut + parts).enumerated() {
                var packet = packet(
                    UInt16(number), type: 96, timestamp: part.time * 3_000, payload: part.payload)
                packet.marker = part.marker
                receiver.handle(packet, at: start)
            }
            let drained = drain(&receiver)
            #expect(drained.plis == requests, "\(parts)")
            #expect(drained.sequence.first != -1 && drained.sequence[1] == -1 && drained.sequence.last != -1)
            #expect(receiver.statistics.framesDamaged == drained.sequence.count { $0 == -1 })
        }
    }

    @Test("Unknown payload types and padding only take their place in the sequence")
    func unknownTypes() throws {
        var receiver = try receiver()
        receiver.handle(packet(0), at: time(0))
        receiver.handle(packet(1, type: 77), at: time(0))
        receiver.handle(packet(2, payload: []), at: time(0))
        receiver.handle(packet(3), at: time(0))
        #expect(drain(&receiver).sequence == [0, 3])
        #expect(receiver.statistics.packetsDiscarded == 1 && receiver.statistics.packetsLost == 0)
    }

    @Test("The peer may switch between the section's codecs; unsupported codecs alone are rejected")
    func codecs() throws {
        var receiver = try receiver([MediaFixtures.pcma, MediaFixtures.pcmu])
        receiver.handle(packet(0), at: time(0))
        receiver.handle(packet(1, type: 0), at: time(0))
        #expect(drain(&receiver).sequence == [0, 1])
        #expect(throws: IoTError.self) {
            try self.receiver([RTPCodec(payloadType: 99, encodingName: "VP8", clockRate: 90_000)])
        }
    }

    @Test("Random packets never trap and never exhaust the memory", arguments: [MediaFixtures.h264, MediaFixtures.aac])
    func neverTraps(codec: RTPCodec) throws {
        var random = SeededGenerator(seed: 21)
        var receiver = try receiver([codec]) { $0.maximumBufferedPackets = 256 }
        var now = start
        var number: UInt16 = 0
        for _ in 0..<30_000 {
            now = now + .microseconds(Int64.random(in: 0...20_000, using: &random))
            number &+= UInt16([0, 1, 1, 1, 1, 2, 5, 65_535, 3_500, 40_000].randomElement(using: &random) ?? 1)
            var payload = random.bytes(Int.random(in: 0...8, using: &random))
            if Bool.random(using: &random), !payload.isEmpty { payload[0] = 0x7C }
            receiver.handle(
                RTPPacket(
                    payloadType: Bool.random(using: &random) ? codec.payloadType : 3,
                    marker: Bool.random(using: &random), sequenceNumber: number,
                    timestamp: UInt32.random(in: 0 ... .max, using: &random),
                    ssrc: UInt32.random(in: 0...40, using: &random) == 0 ? 2 : 1, payload: ByteBuffer(bytes: payload)),
                at: now)
            if Bool.random(using: &random) { receiver.handleTimeout(at: now) }
            _ = drain(&receiver)
            if let stream = receiver.stream {
                #expect(stream.waiting.count <= 256 + 1)
                #expect(stream.missing.count <= 1_024)
            }
        }
    }
}
