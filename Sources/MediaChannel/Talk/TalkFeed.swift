import IoTCore
import MediaPlayer
import NIOCore
import RTP

/// Feeds a player with what a caller says. Confined to the camera's event loop.
final class TalkFeed: FrameSource {
    /// More than the player ever leaves: it polls whenever something is added.
    private static let maximumOutputs = 512

    private var outputs = CircularBuffer<FrameSourceOutput>()
    private var isClosed = false

    let delivery = FrameDelivery.arriving
    var onReady: ((NIODeadline) -> Void)?

    func open(at now: NIODeadline) {
        give(.opened(FrameSourceDescription(video: nil, audio: TalkSection.parameters)), at: now, isPolled: true)
    }

    func take(_ received: ReceivedFrame, at now: NIODeadline) {
        give(
            .frame(SourceFrame(received.frame, arrival: received.lastArrival, recoveryTime: received.recoveryTime)),
            at: now)
    }

    func takeLoss(at now: NIODeadline) { give(.lost(.audio), at: now) }

    private func give(_ output: FrameSourceOutput, at now: NIODeadline, isPolled: Bool = false) {
        guard !isClosed, outputs.count < Self.maximumOutputs else { return }
        outputs.append(output)
        if !isPolled { onReady?(now) }
    }

    func poll(at now: NIODeadline) -> FrameSourceOutput? { outputs.popFirst() }

    func close(_ reason: IoTError?, at now: NIODeadline) {
        isClosed = true
        outputs.removeAll()
    }
}
