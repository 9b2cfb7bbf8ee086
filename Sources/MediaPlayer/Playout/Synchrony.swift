/// Keeps pictures and sound synchronous. All times are µs.
///
/// When the presentation delay rises, frames that were already presented keep the old delay. If a picture and a sound
/// with different delays would be presented close together, the first one is kept. The second is dropped or, if it is a
/// picture, shown slightly later.
struct Synchrony {
    private struct Presented {
        var at: Int64
        /// Presented − captured.
        var delay: Int64
    }

    /// Only a picture and a sound that are presented within this time of each other are compared.
    private static let nearness: Int64 = 45_000

    /// How much later than wanted a picture may be shown.
    private static let largestDelay: Int64 = 25_000

    /// The largest difference of the delays that a viewer does not notice. It is below the promised 80 ms because the
    /// delay may still fall by some ms between a frame's release and its presentation.
    private static let limit: Int64 = 60_000
    private static let remembered = 32

    private var pictures: [Presented] = []
    private var sounds: [Presented] = []

    /// When a picture may be shown that is due at `wanted`; nil if the sound next to it has a different delay.
    func place(pictureAt wanted: Int64, sender: Int64) -> Int64? {
        guard let last = Self.lastApart(wanted, sender, from: sounds) else { return wanted }
        let later = last + Self.nearness + 1
        guard later - wanted <= Self.largestDelay, Self.lastApart(later, sender, from: sounds) == nil else {
            return nil
        }
        return later
    }

    /// False if a picture that is shown next to the sound has a different delay.
    func admits(soundAt presentAt: Int64, sender: Int64) -> Bool {
        Self.lastApart(presentAt, sender, from: pictures) == nil
    }

    mutating func shown(at presentAt: Int64, sender: Int64) {
        Self.append(Presented(at: presentAt, delay: presentAt &- sender), to: &pictures)
    }

    mutating func heard(at presentAt: Int64, sender: Int64) {
        Self.append(Presented(at: presentAt, delay: presentAt &- sender), to: &sounds)
    }

    /// Pictures that are not yet shown are shown later.
    mutating func postpone(after now: Int64, by amount: Int64) {
        for index in pictures.indices where pictures[index].at > now {
            pictures[index].at += amount
            pictures[index].delay += amount
        }
    }

    private static func lastApart(_ presentAt: Int64, _ sender: Int64, from others: [Presented]) -> Int64? {
        let delay = presentAt - sender
        return others.lazy.filter { abs($0.at - presentAt) <= nearness && abs($0.delay - delay) > limit }
            .map(\.at).max()
    }

    private static func append(_ presented: Presented, to list: inout [Presented]) {
        if list.count >= remembered { list.removeFirst() }
        list.append(presented)
    }
}
