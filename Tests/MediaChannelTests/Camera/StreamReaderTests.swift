import IoTCore
import NIOCore
import NIOEmbedded
import RTP
import RTSP
import TestSupport
import Testing

@testable import MediaChannel

/// A player of plain RTP in virtual time.
@Suite struct StreamReaderTests {
    /// A player that parses the packets it gets.
    ///
    /// `@unchecked Sendable`: used only on the test's thread.
    private final class Player: ReaderSink, @unchecked Sendable {
        struct Packet {
            var channel: UInt8
            var header: RTPPacket?
            var reports: [RTCPPacket]
            var time: NIODeadline
        }

        let loop: EmbeddedEventLoop
        var isReady = true
        private(set) var packets: [Packet] = []
        private(set) var ends: [ErrorCode] = []

        init(_ loop: EmbeddedEventLoop) { self.loop = loop }

        func send(_ batch: ReaderBatch) {
            var bytes = batch.bytes
            for packet in batch.packets {
                guard let (marker, channel, length) = bytes.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self),
                    let payload = bytes.readSlice(length: Int(length))
                else { return #expect(Bool(false), "a batch is cut off") }
                #expect(marker == UInt8(ascii: "$") && payload.readableBytes == packet.length)
                packets.append(
                    Packet(
                        channel: channel, header: packet.isReport ? nil : try? RTPPacket(parsing: payload),
                        reports: packet.isReport ? (try? RTCPPacket.parseCompound(payload)) ?? [] : [],
                        time: loop.now))
            }
            #expect(bytes.readableBytes == 0)
        }

        func ended(_ reason: IoTError) { ends.append(reason.code) }

        func take() -> [Packet] {
            defer { packets = [] }
            return packets
        }
    }

    private func reader(
        _ camera: VirtualCamera, _ session: String = "player", account: String = "u/guest"
    ) throws -> (reader: StreamReader, player: Player) {
        let player = Player(camera.loop)
        let reader = StreamReader(
            session: session, account: account, isOwner: false, stream: camera.stream,
            rendition: camera.stream.main, sink: player)
        try camera.stream.add(reader)
        try camera.stream.takePlace(session: session)
        try reader.add(ReaderTrack(index: 0, ssrc: 10, channels: .init(0, 1)))
        try reader.add(ReaderTrack(index: 1, ssrc: 11, channels: .init(2, 3)))
        return (reader, player)
    }

    private func play(_ reader: StreamReader, _ camera: VirtualCamera) -> [ReaderStart] {
        let starts = reader.prepare(at: camera.loop.now)
        reader.play(at: camera.loop.now)
        return starts
    }

    private func headers(_ packets: [Player.Packet], _ channel: UInt8) -> [RTPPacket] {
        packets.filter { $0.channel == channel }.compactMap(\.header)
    }

    @Test("After PLAY, a reader gets the newest key frame and all later packets, with the announced numbers and no gap")
    func start() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 80)
        let (reader, player) = try reader(camera)
        camera.run(pictures: 1)
        #expect(player.packets.isEmpty)
        let starts = play(reader, camera)
        camera.run(pictures: 20)
        let packets = player.take()
        let video = headers(packets, 0)
        #expect(video.first?.sequenceNumber == starts.first?.sequenceNumber)
        #expect(video.first?.timestamp == starts.first?.timestamp, "RTP-Info has the first packet's time")
        #expect(zip(video, video.dropFirst()).allSatisfy { $0.sequenceNumber &+ 1 == $1.sequenceNumber })
        #expect(video.allSatisfy { $0.ssrc == 10 && $0.payloadType == 96 })
        // From picture 50, a key frame, to picture 100: 51 times, 3,600 ticks apart.
        let times = video.map(\.timestamp).reduce(into: [UInt32]()) { if $0.last != $1 { $0.append($1) } }
        #expect(times.count == 51 && zip(times, times.dropFirst()).allSatisfy { $0 &+ 3_600 == $1 })
        let sound = headers(packets, 2)
        #expect(sound.first?.timestamp == starts.last?.timestamp && sound.count == 102)
    }

    @Test("Each reader has its own numbers; sender reports map both tracks to one wall clock")
    func ownNumbers() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 10)
        let (first, one) = try reader(camera, "a")
        let (second, two) = try reader(camera, "b")
        _ = play(first, camera)
        _ = play(second, camera)
        camera.run(pictures: 260)
        let (packets, others) = (one.take(), two.take())
        #expect(headers(packets, 0).count == headers(others, 0).count)
        #expect(headers(packets, 0).first?.timestamp != headers(others, 0).first?.timestamp)
        for channel in [1, 3] as [UInt8] {
            let reports = packets.filter { $0.channel == channel }.compactMap { packet -> RTCPSenderReport? in
                guard case .senderReport(let report)? = packet.reports.first else { return nil }
                return report
            }
            #expect(reports.count == 3, "one each five seconds")
            #expect(reports.allSatisfy { $0.ssrc == (channel == 1 ? 10 : 11) })
        }
    }

    @Test("A player that accepts nothing for five seconds continues at a key frame; others get every packet")
    func slowPlayer() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 1)
        let (slow, stalled) = try reader(camera, "slow")
        let (fast, healthy) = try reader(camera, "fast")
        _ = play(slow, camera)
        _ = play(fast, camera)
        camera.run(pictures: 30)
        let before = headers(stalled.take(), 0)
        stalled.isReady = false
        camera.run(pictures: 125)
        #expect(stalled.packets.isEmpty, "nothing is queued for the stalled player")
        stalled.isReady = true
        camera.run(pictures: 20)
        let after = headers(stalled.take(), 0)
        let last = try #require(before.last)
        let next = try #require(after.first)
        #expect(last.sequenceNumber &+ 1 == next.sequenceNumber, "skipped pictures leave no gap in the numbers")
        // The player stalled from picture 31 to 156; the newest key frame was then picture 150.
        #expect(next.timestamp &- last.timestamp == UInt32((150 - 30) * 3_600))
        #expect(slow.skips == 1 && fast.skips == 0)
        let all = headers(healthy.take(), 0)
        let times = all.map(\.timestamp).reduce(into: [UInt32]()) { if $0.last != $1 { $0.append($1) } }
        #expect(times.count == 176 && zip(times, times.dropFirst()).allSatisfy { $0 &+ 3_600 == $1 })
    }

    @Test("A picture that a stalled player got in part is followed by a gap and then a key frame")
    func partOfPicture() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 51)
        let (reader, player) = try reader(camera)
        _ = play(reader, camera)
        // A key frame is larger than what is sent at once.
        player.isReady = false
        camera.run(pictures: 130)
        let last = try #require(headers(player.take(), 0).last)
        #expect(!last.marker)
        player.isReady = true
        camera.run(pictures: 1)
        let next = try #require(headers(player.take(), 0).first)
        #expect(reader.skips == 1)
        #expect(next.sequenceNumber == last.sequenceNumber &+ 2)
    }

    @Test("A short stall loses nothing")
    func shortStall() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 40)
        let (reader, player) = try reader(camera)
        _ = play(reader, camera)
        camera.run(pictures: 5)
        player.isReady = false
        camera.run(pictures: 30)
        player.isReady = true
        camera.run(pictures: 20)
        let times = headers(player.take(), 0).map(\.timestamp)
            .reduce(into: [UInt32]()) { if $0.last != $1 { $0.append($1) } }
        #expect(times.count == 95 && zip(times, times.dropFirst()).allSatisfy { $0 &+ 3_600 == $1 })
        #expect(reader.skips == 0)
    }

    @Test("Players that stall at random get only whole groups of pictures", arguments: 0..<20)
    func randomStalls(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let camera = VirtualCamera()
        camera.run(pictures: 1)
        let (reader, player) = try reader(camera)
        let first = try #require(play(reader, camera).first?.timestamp)
        for _ in 0..<40 {
            player.isReady.toggle()
            camera.run(pictures: Int.random(in: 1...120, using: &random))
        }
        let video = headers(player.take(), 0)
        for (last, next) in zip(video, video.dropFirst()) where last.timestamp != next.timestamp {
            let gap = next.sequenceNumber &- last.sequenceNumber
            #expect(gap == (last.marker ? 1 : 2), "a picture without its end is followed by a gap")
        }
        let pictures = video.map { Int(($0.timestamp &- first) / 3_600) }
            .reduce(into: [Int]()) { if $0.last != $1 { $0.append($1) } }
        for (last, next) in zip(pictures, pictures.dropFirst()) where next != last + 1 {
            #expect(next > last && next % 50 == 0, "after \(last) comes \(next), which is not a key frame")
        }
    }

    @Test("After PAUSE nothing is sent; PLAY continues at the newest key frame, never before the last sent picture")
    func pause() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 60)
        let (reader, player) = try reader(camera)
        _ = play(reader, camera)
        camera.run(pictures: 20)
        let last = try #require(headers(player.take(), 0).last)
        reader.stop()
        camera.run(pictures: 5)
        #expect(player.take().isEmpty)
        let starts = play(reader, camera)
        camera.run(pictures: 1)
        let next = try #require(headers(player.take(), 0).first)
        #expect(next.sequenceNumber == last.sequenceNumber &+ 1 && next.timestamp == starts.first?.timestamp)
        #expect(Int32(bitPattern: next.timestamp &- last.timestamp) > 0)
    }

    @Test("When a file starts again, its times continue by the real time that has passed")
    func jump() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 10)
        let (reader, player) = try reader(camera)
        _ = play(reader, camera)
        camera.run(pictures: 2)
        let last = try #require(headers(player.take(), 0).last)
        camera.take(50, at: 60_000_000, isDiscontinuity: true)
        let next = try #require(headers(player.take(), 0).first)
        let step = Int32(bitPattern: next.timestamp &- last.timestamp)
        #expect((0...7_200).contains(step), "\(step) ticks")
    }

    @Test("When the camera ends a reader, it sends BYE and one reason; a reader that leaves frees its place")
    func ends() throws {
        let camera = VirtualCamera(maximumViewers: 1)
        camera.run(pictures: 1)
        let (first, one) = try reader(camera, "a")
        _ = play(first, camera)
        #expect(throws: IoTError.self) { _ = try reader(camera, "b") }
        first.hungUp()
        #expect(one.ends.isEmpty && camera.stream.viewers.isEmpty)
        let (second, two) = try reader(camera, "c")
        _ = play(second, camera)
        _ = two.take()
        camera.stream.close()
        #expect(two.ends == [.stopping])
        let goodbyes = two.take().flatMap(\.reports).filter { if case .goodbye = $0 { true } else { false } }
        #expect(goodbyes.count == 2)
    }

    @Test("A camera that is off sends nothing; when it is on again, it continues at a key frame")
    func switchedOff() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 10)
        let (reader, player) = try reader(camera)
        _ = play(reader, camera)
        camera.run(pictures: 10)
        let last = try #require(headers(player.take(), 0).last)
        camera.stream.turn(on: false)
        camera.run(pictures: 40)
        #expect(player.take().isEmpty)
        camera.stream.turn(on: true)
        camera.run(pictures: 1)
        let next = try #require(headers(player.take(), 0).first)
        #expect(next.sequenceNumber == last.sequenceNumber &+ 1)
        #expect(Int32(bitPattern: next.timestamp &- last.timestamp) > 0)
    }

    @Test("Unknown and repeated tracks are refused")
    func unknownTrack() throws {
        let (reader, _) = try reader(VirtualCamera())
        #expect(throws: IoTError.self) { try reader.add(ReaderTrack(index: 2, ssrc: 1, channels: nil)) }
        #expect(throws: IoTError.self) { try reader.add(ReaderTrack(index: 0, ssrc: 1, channels: nil)) }
    }
}
