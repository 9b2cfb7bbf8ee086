import NIOCore

/// What a viewer's request for a key frame (PLI, FIR) leads to.
///
/// Many clients ask every few seconds without having lost anything, and a camera cannot be made to give a key frame. So
/// only what the viewer is known to lack counts, and what it gets never goes back behind a picture that it can have
/// shown:
///
/// - nothing lacking since the newest key frame: nothing;
/// - packets lacking: those packets once more;
/// - packets of the key frame itself lacking, and repairs did not help: nothing of its group of pictures can have been
///   shown, so the group goes out anew.
///
/// Otherwise the next key frame of the live stream ends the loss.
struct KeyFrameRecovery: Equatable {
    enum Action: Equatable {
        case none
        /// The track's sequences.
        case repair([Int64])
        case restart
    }

    /// Repairs get this long before they count as failed, and before they are tried again.
    static let repairTime = TimeAmount.milliseconds(300)

    /// After this time a loss is another one, which repairs are tried for first.
    static let episode = TimeAmount.seconds(3)

    /// Between two starts.
    static let leastRestartInterval = TimeAmount.seconds(2)

    private var lastStart = NIODeadline.distantPast
    private var lastRepair = NIODeadline.distantPast

    init() {}

    /// The viewer begins at a key frame.
    mutating func started(at now: NIODeadline) {
        self = KeyFrameRecovery()
        lastStart = now
    }

    /// - Parameters:
    ///   - lacking: the track's packets that the viewer is known to lack.
    ///   - keyFrame: the packets of the newest key frame; `nil` when there is none.
    ///   - sent: the first sequence that has not been sent yet.
    mutating func keyFrameRequested(
        lacking: [Int64], keyFrame: Range<Int64>?, sent: Int64, at now: NIODeadline
    ) -> Action {
        // One that is on its way is what was asked for.
        guard let keyFrame, keyFrame.upperBound <= sent else { return .none }
        let lacking = lacking.filter { $0 >= keyFrame.lowerBound }
        guard !lacking.isEmpty, now - lastRepair >= Self.repairTime else { return .none }
        let hasTried = now - lastRepair < Self.episode
        if hasTried, lacking.contains(where: keyFrame.contains), now - lastStart >= Self.leastRestartInterval {
            return .restart
        }
        lastRepair = now
        return .repair(lacking)
    }
}
