import TestSupport
import Testing

@testable import MediaPlayer

/// Tests the jitter buffer's smaller parts.
@Suite struct PlayoutPiecesTests {
    @Test("The window's minimum and percentile are those of the last ten seconds")
    func transitWindow() {
        var window = TransitWindow(length: 10_000_000)
        var generator = SeededGenerator(seed: 5)
        var all: [(Int64, Int64)] = []
        for index in 0..<3_000 {
            let now = Int64(index) * 13_000
            let transit = Int64.random(in: -50_000...50_000, using: &generator)
            all.append((now, transit))
            window.append(transit: transit, at: now)
            guard index % 97 == 0 else { continue }
            let recent = all.filter { $0.0 >= now - 10_000_000 }.map(\.1).sorted()
            #expect(window.minimum == recent.first)
            let percentile = window.percentile95(at: now)
            #expect(percentile == recent[(recent.count - 1) * 95 / 100])
        }
        window.removeSamples(before: 3_000 * 13_000)
        #expect(window.isEmpty && window.minimum == nil)
    }

    @Test("A late frame raises the tolerance at once; without another it decays")
    func tolerance() {
        var estimator = ToleranceEstimator(
            initial: 50_000, maximum: 2_000_000, decay: 0.02, peakLifetime: 10_000_000)
        estimator.handleLate(transit: 400_000, base: 0, at: 0)
        #expect(estimator.tolerance == 400_000)
        for second in 0..<10 { estimator.update(percentile: 20_000, base: 0, at: Int64(second) * 1_000_000) }
        #expect(estimator.tolerance == 400_000)
        estimator.update(percentile: 20_000, base: 0, at: 10_000_000)
        #expect(estimator.tolerance == 392_000)
        for second in 11..<120 { estimator.update(percentile: 20_000, base: 0, at: Int64(second) * 1_000_000) }
        #expect(estimator.tolerance == 20_000)
        estimator.handleLate(transit: 2_100_000, base: 0, at: 120_000_000)
        #expect(estimator.tolerance == 20_000, "no delay would have been long enough")
    }

    @Test("The tolerance rises to a floor slowly during play, at once before play, and does not fall below it")
    func floor() {
        var estimator = ToleranceEstimator(
            initial: 50_000, maximum: 2_000_000, decay: 0.02, peakLifetime: 10_000_000)
        estimator.update(percentile: 0, base: 0, floor: 200_000, at: 0)
        #expect(estimator.tolerance == 50_000)
        estimator.update(percentile: 0, base: 0, floor: 200_000, at: 1_000_000)
        #expect(estimator.tolerance == 100_000)
        for second in 2..<20 {
            estimator.update(percentile: 0, base: 0, floor: 200_000, at: Int64(second) * 1_000_000)
        }
        #expect(estimator.tolerance == 200_000)
        estimator.update(percentile: 0, base: 0, at: 20_000_000)
        #expect(estimator.tolerance == 195_000)
        estimator.raise(to: 300_000)
        #expect(estimator.tolerance == 300_000)
        estimator.raise(to: 9_000_000)
        #expect(estimator.tolerance == 2_000_000)
    }

    @Test(
        "A picture next to sound on another line is shown slightly later or not at all; such sound is not heard")
    func synchrony() {
        var synchrony = Synchrony()
        for time in stride(from: 0, through: 100_000, by: 20_000) as StrideThrough<Int64> {
            synchrony.heard(at: 1_000_000 + time, sender: time)
        }
        #expect(synchrony.place(pictureAt: 1_050_000, sender: 50_000) == 1_050_000)
        #expect(synchrony.place(pictureAt: 1_110_000, sender: 50_000) == 1_110_000, "60 ms late")
        // The line rose by 100 ms: the old sound is heard until 1.1 s.
        #expect(synchrony.place(pictureAt: 1_110_000, sender: 10_000) == nil)
        #expect(synchrony.place(pictureAt: 1_125_000, sender: 25_000) == 1_145_001)
        #expect(synchrony.place(pictureAt: 1_146_000, sender: 46_000) == 1_146_000)
        synchrony.shown(at: 1_300_000, sender: 300_000)
        #expect(synchrony.admits(soundAt: 1_310_000, sender: 300_000))
        #expect(!synchrony.admits(soundAt: 1_310_000, sender: 200_000))
        #expect(synchrony.admits(soundAt: 1_346_000, sender: 200_000))
        synchrony.postpone(after: 1_290_000, by: 100_000)
        #expect(!synchrony.admits(soundAt: 1_410_000, sender: 410_000))
        #expect(synchrony.admits(soundAt: 1_410_000, sender: 310_000))
    }

    @Test("When the base moves, presentation times stay the same")
    func baseMoves() {
        var estimator = ToleranceEstimator(
            initial: 50_000, maximum: 2_000_000, decay: 0.02, peakLifetime: 10_000_000)
        estimator.handleBaseMoved(from: 0, to: -30_000)
        #expect(estimator.tolerance == 80_000)
        estimator.handleBaseMoved(from: -30_000, to: 10_000)
        #expect(estimator.tolerance == 40_000)
    }

    @Test("A gap is concealed piece by piece, up to the next sound, but not forever")
    func continuity() {
        var continuity = AudioContinuity()
        let firstHole = continuity.conceal(duration: 20_000, next: nil, at: 1_000_000)
        #expect(firstHole == nil)
        let firstGap = continuity.hear(at: 0, duration: 20_000)
        #expect(firstGap == nil)
        let secondGap = continuity.hear(at: 20_000, duration: 20_000)
        #expect(secondGap == nil)
        let secondHole = continuity.conceal(duration: 20_000, next: nil, at: 39_999)
        #expect(secondHole == nil)
        let thirdHole = continuity.conceal(duration: 20_000, next: nil, at: 40_000)
        #expect(thirdHole.map { $0 == (40_000, 20_000) } == true)
        #expect(continuity.isConcealed(at: 50_000))
        let fourthHole = continuity.conceal(duration: 20_000, next: 72_000, at: 60_000)
        #expect(fourthHole.map { $0 == (60_000, 12_000) } == true)
        let thirdGap = continuity.hear(at: 72_000, duration: 20_000)
        #expect(thirdGap == nil)
        let fourthGap = continuity.hear(at: 192_000, duration: 20_000)
        #expect(fourthGap.map { $0 == (92_000, 100_000) } == true)
        var pieces = 0
        while continuity.conceal(duration: 20_000, next: nil, at: 10_000_000) != nil { pieces += 1 }
        #expect(pieces == 50)
        #expect(continuity.deadline == nil)
    }

    @Test("Pictures keep their order when the line rises between their releases")
    func order() {
        var order = PresentationOrder()
        let firstPlace = order.place(pts: 0, wanted: 100)
        #expect(firstPlace == 100)
        let secondPlace = order.place(pts: 30, wanted: 130)
        #expect(secondPlace == 130)
        let thirdPlace = order.place(pts: 10, wanted: 210)
        #expect(thirdPlace == 110)
        let fourthPlace = order.place(pts: 20, wanted: 220)
        #expect(fourthPlace == 120)
        let fifthPlace = order.place(pts: 20, wanted: 220)
        #expect(fifthPlace == nil, "a pts is placed only once")
        let sixthPlace = order.place(pts: 15, wanted: 215, notBefore: 200)
        #expect(sixthPlace == nil, "too late for its place")
        let seventhPlace = order.place(pts: 40, wanted: 90)
        #expect(seventhPlace == 131, "not before earlier pictures")
        order.restart()
        let eighthPlace = order.place(pts: 5, wanted: 100)
        #expect(eighthPlace == 132)
    }

    @Test("Postponing moves pictures that are not yet shown")
    func postpone() {
        var order = PresentationOrder()
        _ = order.place(pts: 0, wanted: 100)
        _ = order.place(pts: 30, wanted: 130)
        order.postpone(after: 110, by: 50)
        #expect(order.presentTime(pts: 0) == 100)
        #expect(order.presentTime(pts: 30) == 180)
        #expect(order.presentTime(pts: 31) == nil)
    }

    @Test("The live edge is reached when the burst is no longer faster than real time")
    func liveEdge() {
        var edge = LiveEdge()
        // At four times the speed, the target falls 30 ms every 10 ms.
        for step in 0..<100 {
            let isReached = edge.update(backlog: 0, target: Int64(-30_000 * step), at: Int64(10_000 * step))
            #expect(!isReached)
        }
        #expect(!edge.isAudible(at: 1_000_000))
        var reachedAt: Int64?
        for step in 0..<100 where reachedAt == nil {
            let now = 1_000_000 + Int64(10_000 * step)
            if edge.update(backlog: 0, target: -2_970_000, at: now) { reachedAt = now }
        }
        #expect(reachedAt.map { (1_180_000...1_210_000).contains($0) } == true)
        #expect(edge.isAudible(at: 1_300_000) && !edge.isCatchingUp)
    }

    @Test("A key frame is requested once per interval, and opens the gate")
    func gate() {
        var gate = KeyFrameGate(requestInterval: 1_000_000)
        let firstIsAdmitted = gate.admits(isKeyFrame: false)
        #expect(!firstIsAdmitted)
        let firstIsAsked = gate.takeRequest(at: 0)
        #expect(firstIsAsked)
        let secondIsAsked = gate.takeRequest(at: 999_999)
        #expect(!secondIsAsked)
        let thirdIsAsked = gate.takeRequest(at: 1_000_000)
        #expect(thirdIsAsked)
        let secondIsAdmitted = gate.admits(isKeyFrame: true)
        #expect(secondIsAdmitted)
        let thirdIsAdmitted = gate.admits(isKeyFrame: false)
        #expect(thirdIsAdmitted)
        let fourthIsAsked = gate.takeRequest(at: 5_000_000)
        #expect(!fourthIsAsked)
        gate.close()
        let fourthIsAdmitted = gate.admits(isKeyFrame: false)
        #expect(!fourthIsAdmitted)
        let fifthIsAsked = gate.takeRequest(at: 5_000_000)
        #expect(fifthIsAsked)
    }
}
