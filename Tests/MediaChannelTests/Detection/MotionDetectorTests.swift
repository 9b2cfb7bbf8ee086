import IoTCore
import TestSupport
import Testing

@testable import MediaChannel

/// A scene of small pictures, half a second apart.
private struct Scene {
    static let (columns, rows) = (MotionDetector.columns, MotionDetector.rows)

    var random = SeededGenerator(seed: 7)
    var detector: MotionDetector
    var time: Int64 = 0
    let ground: [Int] = (0..<columns * rows).map { 60 + ($0 % columns) + ($0 / columns * 37) % 50 }

    init(_ sensitivity: MotionSensitivity, ignoring areas: PictureAreas? = nil) throws {
        detector = try #require(MotionDetector(sensitivity, ignoring: areas))
    }

    mutating func look(
        light: Int = 0, noise: Int = 2, object: (left: Int, top: Int, width: Int, height: Int, brighter: Int)? = nil,
        _ change: (Int, Int) -> Int = { _, value in value }
    ) -> MotionDetector.Finding {
        var cells: [UInt8] = []
        for cell in ground.indices {
            let (y, x) = cell.quotientAndRemainder(dividingBy: Self.columns)
            var value = change(cell, ground[cell]) + light + Int.random(in: -noise...noise, using: &random)
            if let object, (object.left..<object.left + object.width).contains(x),
                (object.top..<object.top + object.height).contains(y)
            {
                value += object.brighter
            }
            cells.append(UInt8(max(0, min(255, value))))
        }
        time += 500_000
        return detector.look(at: cells, time: time)
    }

    mutating func learn(noise: Int = 2) {
        for _ in 0..<10 { _ = look(noise: noise) }
    }

    /// How many of the pictures of an object that crosses the scene show motion.
    mutating func pass(size: Int, brighter: Int) -> Int {
        (0..<12).count { step in
            if case .motion = look(object: (4 + step * 6, 20, size, size, brighter)) { true } else { false }
        }
    }
}

@Suite struct MotionDetectorTests {
    @Test("A still scene is still, also with noise, and nothing is found while it learns")
    func still() throws {
        for noise in [0, 2, 8] {
            var scene = try Scene(.high)
            for step in 0..<120 {
                let finding = scene.look(noise: noise)
                #expect(step < 6 ? finding == .learning || finding == .still : finding == .still, "noise \(noise)")
            }
        }
    }

    @Test(
        "Something that crosses the scene is found, as small and faint as the sensitivity says",
        arguments: [
            (MotionSensitivity.low, 9, 40, true), (.low, 4, 40, false), (.medium, 5, 30, true), (.medium, 3, 30, false),
            (.medium, 6, 7, false), (.high, 3, 30, true), (.high, 5, 12, true), (.medium, 8, -30, true),
        ])
    func objects(sensitivity: MotionSensitivity, size: Int, brighter: Int, isFound: Bool) throws {
        var scene = try Scene(sensitivity)
        scene.learn()
        let found = scene.pass(size: size, brighter: brighter)
        #expect(isFound ? found >= 10 : found == 0, "\(found) of 12")
        // It is gone, and nothing is left of it.
        let after = (0..<20).map { _ in scene.look() }
        #expect(after.suffix(10).allSatisfy { $0 == .still })
    }

    @Test("Light that changes, suddenly or slowly, is no motion; a scene that is another one is learned")
    func light() throws {
        var scene = try Scene(.high)
        scene.learn()
        for light in [40, 40, -30, 0] + Array(0...60) + Array((0...60).reversed()) {
            #expect(scene.look(light: light) == .still, "light \(light)")
        }
        // Infrared: everything has another brightness.
        var findings: [MotionDetector.Finding] = []
        for _ in 0..<20 { findings.append(scene.look { cell, value in (value * 7 + cell * 13) % 200 }) }
        #expect(findings.first == .anotherScene)
        #expect(findings.dropFirst().allSatisfy { $0 == .learning || $0 == .still })
        #expect(findings.last == .still)
    }

    @Test("What stays becomes a part of the scene within half a minute; what always moves becomes noise")
    func remains() throws {
        var scene = try Scene(.medium)
        scene.learn()
        let findings = (0..<80).map { _ in scene.look(object: (30, 20, 8, 8, 60)) }
        #expect(findings.first != .still)
        #expect(findings.dropFirst(60).allSatisfy { $0 == .still })

        var tree = try Scene(.medium)
        tree.learn()
        let moving = (0..<400).map { step in tree.look(object: (30, 20, 8, 8, step % 3 == 0 ? 25 : 0)) }
        #expect(moving.suffix(60).allSatisfy { $0 == .still })
        // Elsewhere, something is still found.
        #expect(tree.pass(size: 6, brighter: 40) >= 6)
    }

    @Test("Motion in an area that is ignored does not count; beside it, it does")
    func ignored() throws {
        let areas = try #require(PictureAreas("0,0,50,100"))
        var scene = try Scene(.medium, ignoring: areas)
        scene.learn()
        var found: [Bool] = []
        for step in 0..<14 {
            if case .motion = scene.look(object: (step * 6, 20, 6, 6, 50)) {
                found.append(true)
            } else {
                found.append(false)
            }
        }
        #expect(found.prefix(7).allSatisfy { !$0 } && found.suffix(5).allSatisfy(\.self), "\(found)")
        #expect(MotionDetector(.off) == nil)
    }
}

@Suite struct MotionEventsTests {
    @Test("An event lasts until there was no motion for five seconds, and a long one is followed by another")
    func events() {
        var events = MotionEvents()
        func take(_ hasMotion: Bool, _ second: Int64) -> [DetectionPhase] {
            events.take(hasMotion: hasMotion, at: second * 1_000_000)
        }
        #expect(take(false, 1) == [])
        #expect(take(true, 2) == [.begins])
        #expect(take(true, 3) == [.goesOn])
        #expect(take(false, 5) == [] && take(false, 8) == [])
        #expect(take(false, 9) == [.ends(lasted: 1_000_000)])
        #expect(take(true, 10) == [.begins] && take(true, 12) == [.goesOn])
        #expect(take(true, 30) == [.goesOn], "pictures that are far apart")
        #expect(take(true, 40) == [.goesOn])
        for second in stride(from: Int64(42), through: 310, by: 2) { #expect(take(true, second) == [.goesOn]) }
        #expect(take(true, 312) == [.ends(lasted: 300_000_000), .begins])
        #expect(events.end() == [.ends(lasted: 0)] && events.end() == [])
    }

    @Test("Key frames alone are looked at while they come often, otherwise every frame")
    func selection() {
        var selection = MotionSelection()
        func take(_ isKey: Bool, _ ms: Int64) -> MotionSelection.Choice {
            selection.take(isKeyFrame: isKey, at: ms * 1_000)
        }
        #expect(take(true, 0) == .alone && take(false, 40) == .skip && take(true, 2_000) == .alone)
        #expect(take(true, 2_200) == .skip && take(true, 2_400) == .alone)
        #expect(take(true, 8_000) == .inOrder && take(false, 8_040) == .inOrder && take(true, 13_000) == .inOrder)
        #expect(take(true, 14_000) == .alone && take(false, 14_040) == .skip)
    }
}
