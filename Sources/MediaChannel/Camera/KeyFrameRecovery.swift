import NIOCore

/// Decides how to answer a viewer's request for a key frame (PLI, FIR).
///
/// Many clients ask every few seconds without a loss, and a camera cannot be forced to make a key frame. So only
/// packets that the viewer is known to lack count, and the viewer never gets pictures older than one that it may have
/// shown:
///
/// - Nothing is lacking since the newest key frame: do nothing.
/// - Packets are lacking: send those packets again.
/// - Packets of the key frame itself are lacking, and repairs did not help: no picture of its group can have been
///   shown, so the group is sent again.
///
/// Otherwise the next key frame of the live stream ends the loss.
struct KeyFrameRecovery: Equatable {
    enum Action: Equatable {
        case none
        /// Sequences of the track.
        case repair([Int64])
        case restart
    }

    /// How long a repair may take before it counts as failed and may be repeated.
    static let repairTime = TimeAmount.milliseconds(300)

    /// After this time a loss counts as a new one, so repairs are tried first.
    static let episode = TimeAmount.seconds(3)

    /// The minimum time between two restarts.
    static let leastRestartInterval = TimeAmount.seconds(2)

    private var lastStart = NIODeadline.distantPast
    private var lastRepair = NIODeadline.distantPast

    init() {}

    /// The viewer starts at a key frame.
    mutating func started(at now: NIODeadline) {
        self = KeyFrameRecovery()
        lastStart = now
    }

    /// - Parameters:
    ///   - lacking: the track's packets that the viewer is known to lack.
    ///   - keyFrame: the packets of the newest key frame; `nil` if there is none.
    ///   - sent: the first sequence that has not been sent yet.
    mutating func keyFrameRequested(
        lacking: [Int64], keyFrame: Range<Int64>?, sent: Int64, at now: NIODeadline
    ) -> Action {
        // A key frame that is not yet sent completely is the answer to the request.
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
