import NIOCore
import RTP
import Testing

@testable import MediaChannel

@Suite struct CallerPacketsTests {
    private let start = NIODeadline.uptimeNanoseconds(0)

    private func packets(_ times: [Int64], from sequence: Int64 = 100) -> [MediaPacket] {
        times.enumerated().map { index, pts in
            MediaPacket(
                payload: ByteBuffer(integer: pts), marker: true, timestamp: 0, sequence: sequence + Int64(index),
                isKeyFrameStart: index == 0, pts: pts)
        }
    }

    @Test("The packets of one camera after another have continuous numbers, and times that are as far apart as in fact")
    func change() {
        var numbered = CallerPackets()
        numbered.begin()
        let first = numbered.place(packets([5_000_000, 5_040_000]), clockRate: 90_000, at: start)
        #expect(first.map(\.sequence) == [0, 1] && first.map(\.pts) == [5_000_000, 5_040_000])
        #expect(first.map(\.timestamp) == [450_000, 453_600])
        numbered.begin()
        let second = numbered.place(packets([70, 40_070], from: 7), clockRate: 90_000, at: start + .milliseconds(300))
        #expect(second.map(\.sequence) == [2, 3] && second.map(\.pts) == [5_340_000, 5_380_000])
        // A picture that is shown before one that was sent earlier.
        let third = numbered.place(packets([20_070]), clockRate: 90_000, at: start + .milliseconds(400))
        #expect(third.map(\.pts) == [5_360_000])
        #expect((0..<5).map { numbered.packet(sequence: $0)?.pts } == (first + second + third).map(\.pts))
    }

    @Test("The newest packets are kept for retransmission, and no more than twice as many")
    func retransmission() {
        var numbered = CallerPackets()
        for round in 0..<Int64(10) {
            _ = numbered.place(packets((0..<400).map { (400 * round + $0) * 1_000 }), clockRate: 90_000, at: start)
        }
        for sequence in Int64(4_000 - CallerPackets.capacity)..<4_000 {
            #expect(numbered.packet(sequence: sequence)?.sequence == sequence)
        }
        #expect(
            [-1, 0, 4_000 - 2 * Int64(CallerPackets.capacity) - 1, 4_000, .max].allSatisfy {
                numbered.packet(sequence: $0) == nil
            })
    }
}
