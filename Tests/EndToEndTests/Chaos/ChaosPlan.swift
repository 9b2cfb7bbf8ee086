import Foundation
import TestSupport

/// What goes wrong, and when: all of it follows from the seed.
struct ChaosPlan: Sendable {
    enum Fault: String, CaseIterable, Sendable {
        /// SIGKILL, then the hub starts another by itself.
        case broker
        /// SIGKILL of a daemon, which is started again after the pause. A killed hub leaves its broker behind.
        case hub, camera, gateway
        /// The box's cable is out for the pause.
        case cameraCable, gatewayCable

        /// What two faults at a time must not both strike: a box that is started needs its cable for nothing, but a
        /// hub that starts its own broker kills the orphan, which would be the other fault's.
        var place: String {
            switch self {
            case .broker, .hub: "hub"
            case .camera: "camera"
            case .gateway: "gateway"
            case .cameraCable: "cameraCable"
            case .gatewayCable: "gatewayCable"
            }
        }
    }

    struct Strike: Sendable, CustomStringConvertible {
        let fault: Fault
        /// After the round's begin.
        let delay: Duration
        /// Until it is mended.
        let pause: Duration
        /// Whether everybody must see that the device is gone before it is mended: not where the farewell is lost on
        /// the way, which takes the silence of docs/link.md.
        var mustBeSeen = false

        var description: String { "\(fault.rawValue) at \(delay) for \(pause)" }
    }

    /// - Parameter seed: draws the same rounds again.
    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private var generator: SeededGenerator
    private var kinds: [Fault] = []

    /// One to three faults that overlap. Each kind comes before any comes again, so that a short run has them all;
    /// twice the hub, which has the most to lose, and the camera.
    mutating func nextRound() -> [Strike] {
        let count = [1, 1, 2, 2, 3].randomElement(using: &generator) ?? 1
        var strikes: [Strike] = []
        while strikes.count < count {
            if kinds.isEmpty { kinds = (Fault.allCases + [.hub, .camera]).shuffled(using: &generator) }
            guard let fault = kinds.popLast(), !strikes.contains(where: { $0.fault.place == fault.place }) else {
                break
            }
            strikes.append(
                Strike(
                    fault: fault, delay: .milliseconds(Int.random(in: 0...1_500, using: &generator)),
                    pause: .milliseconds(Int.random(in: 0...4_000, using: &generator))))
        }
        if let index = strikes.firstIndex(where: { $0.fault == .camera }),
            strikes.allSatisfy({ [.camera, .hub].contains($0.fault) })
        {
            strikes[index].mustBeSeen = true
        }
        return strikes
    }
}
