import IoTCore
import NIOCore
import RTP

/// The part of a viewer's stream that comes from one rendition.
///
/// Renditions number their packets from 0 and have clocks of their own. The stream of one viewer continues over a change
/// of the rendition: each run has higher sequences than the run before it, and its own mapping of the source's clock.
struct ViewerRun {
    let rendition: Rendition
    /// Whether the rendition's sound has the format that the viewer gets.
    var hasSound: Bool
    /// Maps times of the rendition's source to those of the viewer.
    var clock = ViewerClock()
    /// The tracks that the viewer got, when the run has ended: the rendition may have others by now.
    var lastTracks: [MediaKind: CameraTrack.Identity] = [:]
    /// Added to the sequences of the rendition's packets.
    let firstSequence: Int64

    /// More packets than a rendition sends in centuries.
    private static let span: Int64 = 1 << 40

    init(_ rendition: Rendition) {
        self.rendition = rendition
        hasSound = true
        firstSequence = 0
    }

    /// The run that follows another, without sound until the viewer has compared its format. Both renditions show the same scene, so their newest frames tell how their clocks
    /// relate.
    init(_ rendition: Rendition, after last: ViewerRun) {
        self.rendition = rendition
        hasSound = false
        firstSequence = last.firstSequence + Self.span
        guard let start = rendition.newest, let edge = last.rendition.newest else { return }
        let passed = max((start.time - edge.time).nanoseconds / 1_000, ViewerClock.leastStep)
        clock.begin(start.pts, at: last.clock.live(edge.pts &+ passed))
    }

    func contains(_ sequence: Int64) -> Bool {
        (firstSequence..<firstSequence + Self.span).contains(sequence)
    }

    /// The packet of one of the rendition's tracks, as the viewer gets it.
    func placed(_ packet: MediaPacket, _ kind: MediaKind, clockRate: Int) -> MediaPacket {
        let pts = kind == .video ? clock.place(packet.pts) : clock.placeSound(packet.pts)
        var placed = packet.moved(to: pts, clockRate: clockRate)
        placed.sequence += firstSequence
        return placed
    }
}
