import Foundation
import TestSupport

/// The faults and their times, all determined by the seed.
struct ChaosPlan: Sendable {
    enum Fault: String, CaseIterable, Sendable {
        /// SIGKILL of the broker. The hub starts another one by itself.
        case broker
        /// SIGKILL of a daemon, which is started again after the pause. A killed hub leaves its broker running.
        case hub, camera, gateway
        /// The box's cable is unplugged for the pause.
        case cameraCable, gatewayCable

        /// Two faults at the same time must not share a place. A box can start without its cable, so these are two
        /// places; but a hub that starts kills the orphaned broker, which would be the other fault's broker.
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
        /// From the beginning of the round.
        let delay: Duration
        /// Until the fault ends.
        let pause: Duration
        /// Whether everybody must see the device offline before the fault ends. False if the farewell message is lost,
        /// because then the device is offline only after the timeout of docs/link.md.
        var mustBeSeen = false

        var description: String { "\(fault.rawValue) at \(delay) for \(pause)" }
    }

    /// - Parameter seed: The same seed gives the same rounds.
    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private var generator: SeededGenerator
    private var kinds: [Fault] = []

    /// One to three overlapping faults. Each kind comes once before any comes again, so that a short run has them all;
    /// the hub, which has the most to lose, and the camera come twice.
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
