import NIOCore
import Testing

@testable import MediaChannel

@Suite struct KeyFrameRecoveryTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let keyFrame: Range<Int64> = 1_000..<1_040

    private func request(
        _ recovery: inout KeyFrameRecovery, _ lacking: [Int64], after time: TimeAmount, sent: Int64 = 1_500
    ) -> KeyFrameRecovery.Action {
        recovery.keyFrameRequested(lacking: lacking, keyFrame: keyFrame, sent: sent, at: start + time)
    }

    private func started() -> KeyFrameRecovery {
        var recovery = KeyFrameRecovery()
        recovery.started(at: start)
        return recovery
    }

    @Test("A viewer without a loss gets no packet again, however often it asks")
    func nothingLost() {
        var recovery = started()
        for second: Int64 in stride(from: 0, through: 60, by: 2) {
            #expect(request(&recovery, [], after: .seconds(second)) == .none)
        }
        // Missing packets of an earlier group of pictures no longer matter.
        #expect(request(&recovery, [998, 999], after: .seconds(61)) == .none)
    }

    @Test("Packets missing after the key frame are repaired, and no picture comes twice")
    func lostPicture() {
        var recovery = started()
        for time: Int64 in stride(from: 2_000, through: 60_000, by: 500) {
            #expect(request(&recovery, [1_200, 1_201], after: .milliseconds(time)) == .repair([1_200, 1_201]))
        }
        #expect(request(&recovery, [1_200], after: .milliseconds(60_001)) == .none, "the repair is on its way")
    }

    @Test("A lost key frame is repaired first; if that does not help, its group is restarted")
    func lostKeyFrame() {
        var recovery = started()
        #expect(request(&recovery, [1_003, 1_200], after: .milliseconds(2_500)) == .repair([1_003, 1_200]))
        #expect(request(&recovery, [1_003], after: .milliseconds(2_700)) == .none)
        #expect(request(&recovery, [1_003], after: .milliseconds(2_900)) == .restart)
        recovery.started(at: start + .milliseconds(2_900))
        #expect(request(&recovery, [1_003], after: .milliseconds(3_000)) == .repair([1_003]))
        #expect(request(&recovery, [1_003], after: .milliseconds(3_400)) == .repair([1_003]), "not twice in 2 s")
        #expect(request(&recovery, [1_003], after: .milliseconds(4_950)) == .restart)
    }

    @Test("A repair of long ago was for another loss")
    func episodes() {
        var recovery = started()
        #expect(request(&recovery, [1_003], after: .seconds(2)) == .repair([1_003]))
        #expect(request(&recovery, [1_004], after: .seconds(9)) == .repair([1_004]))
    }

    @Test("While a key frame is being sent, nothing more is done")
    func keyFrameUnderWay() {
        var recovery = started()
        #expect(request(&recovery, [1_001], after: .seconds(5), sent: 1_020) == .none)
        #expect(
            recovery.keyFrameRequested(lacking: [3], keyFrame: nil, sent: 10, at: start + .seconds(5)) == .none)
    }
}
