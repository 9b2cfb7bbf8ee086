import IoTCore
import Logging
import NIOCore
import PeerTransport
import RTP

/// A browser as a viewer. It knows neither instant start nor a source that restarts, so it gets media on a clock of its
/// own, and sound that it can play. The answer to its offer contains all our candidates. Confined to the camera's event
/// loop.
final class BrowserViewer: CalledViewer {
    let connection: ViewerConnection

    /// How long to wait for candidates from the servers; then the description is sent without them.
    private static let gatheringTimeout: TimeAmount = .seconds(2)
    private var gathering: EventLoopPromise<Void>?

    private var sound = BrowserOffer.Sound.original
    private var clock = BrowserClock()
    /// The newest picture that was sent, on the source's clock.
    private var lastSent: Int64?
    private var recovery = KeyFrameRecovery()

    init(_ connection: ViewerConnection) {
        self.connection = connection
        connection.viewer = self
    }

    private var stream: CameraStream { connection.stream }

    var hearsOpus: Bool { sound == .opus }

    private var video: CameraTrack? { connection.sections[.video] == nil ? nil : stream.video }

    /// The audio track that it gets.
    private var audio: CameraTrack? {
        guard connection.sections[.audio] != nil else { return nil }
        return hearsOpus ? stream.opus : stream.audio
    }

    // MARK: Connecting

    /// Answers the browser's offer with the media that the browser accepts.
    ///
    /// - Throws: `codecUnsupported`, with a remedy, if it cannot show the camera's picture.
    func makeAnswer(to offer: SessionDescription) throws(IoTError) {
        if offer.malformedCandidates > 0 {
            stream.logger.debug(
                "candidates that cannot be read were ignored", metadata: ["ice.count": "\(offer.malformedCandidates)"])
        }
        let choice = try BrowserOffer(
            offer, video: stream.video?.codec, isReordered: stream.isReordered, audio: stream.audio?.codec)
        var configuration = connection.configuration(isControlling: false)
        // The answer waits for our candidates, but not for servers that did not answer before.
        configuration.ice.serversNotAwaited = stream.silentServers
        if let mid = choice.video, let track = stream.video {
            connection.sections[.video] = mid
            configuration.sections.append(connection.section(.video, mid: mid, track))
        }
        if let (mid, sound) = choice.audio {
            do throws(IoTError) {
                if sound == .opus { try stream.addOpusListener() }
                self.sound = sound
                connection.sections[.audio] = mid
                if let audio { configuration.sections.append(connection.section(.audio, mid: mid, audio)) }
            } catch {
                // If the sound cannot be decoded, the browser still gets the picture.
                guard choice.video != nil else { throw error }
            }
        }
        if let mid = TalkSection.offered(in: offer), connection.mayTalk {
            connection.addTalk(TalkSection.receiving(mid: mid), to: &configuration)
        }
        if offer.dataSection != nil { configuration.dataChannels = .call }
        var names = Set(connection.sections.values)
        if let mid = connection.talkSection { names.insert(mid) }
        do throws(IoTError) {
            _ = try connection.makePeer(configuration).createAnswer(to: offer) { names.contains($0.mid) }
        } catch {
            if connection.peer == nil { releaseSound() } else { connection.finish(nil) }
            throw error
        }
    }

    /// Our description as text, when it contains all our candidates or the servers have timed out.
    func gathered() -> EventLoopFuture<String> {
        let eventLoop = stream.eventLoop
        guard let peer = connection.peer else { return eventLoop.makeFailedFuture(IoTError(.hungUp)) }
        let promise = eventLoop.makePromise(of: Void.self)
        if peer.localDescription?.hasEndOfCandidates == true {
            promise.succeed()
        } else {
            gathering = promise
            let timeout = eventLoop.assumeIsolated().scheduleTask(in: Self.gatheringTimeout) { [weak self] in
                self?.gatheringTimedOut()
            }
            promise.futureResult.whenComplete { _ in timeout.cancel() }
        }
        return promise.futureResult.assumeIsolated().flatMapThrowing { [weak self] in
            guard let description = self?.connection.peer?.localDescription else { throw IoTError(.hungUp) }
            return description.text
        }.nonisolated()
    }

    /// Servers that have not answered are not waited for again until they answer.
    private func gatheringTimedOut() {
        let silent = connection.peer?.unansweredServers ?? []
        if !silent.isEmpty {
            stream.logger.debug("ICE servers do not answer", metadata: ["ice.servers": "\(silent.sorted())"])
        }
        stream.silentServers.formUnion(silent)
        endGathering()
    }

    private func endGathering() {
        gathering?.succeed()
        gathering = nil
    }

    func found(candidate: String) {
        if candidate.isEmpty { endGathering() }
    }

    // MARK: Sending

    func restart(at now: NIODeadline) {
        guard connection.canSend else { return }
        recovery.started(at: now)
        connection.start(video: video, audio: audio, soundIsLive: true, at: now)
        beginClock()
        pump(at: now)
    }

    private func beginClock() {
        if let edge = stream.newest?.pts {
            let start = video.flatMap { $0.ring.packet(sequence: $0.startSequence)?.pts } ?? edge
            clock.begin(start: start, edge: edge, after: lastSent)
        }
        clockChanged()
    }

    func clockChanged() {
        guard let source = stream.clock else { return }
        connection.peer?.mediaClockAnchor = MediaClockAnchor(pts: clock.live(source.pts), wallClock: source.wall)
    }

    func clockJumped(to pts: Int64, expected: Int64) {
        clock.jump(to: pts, expected: expected)
    }

    /// RTP carries no decoding times, so the browser would show the pictures in the order of arrival.
    func picturesReordered() { end(BrowserOffer.reordered) }

    func pump(at now: NIODeadline) {
        let (video, audio) = (video, audio)
        connection.pump(video: video, audio: audio, at: now) { packet, kind in
            if kind == .video { lastSent = max(lastSent ?? packet.pts, packet.pts) }
            return placed(packet, kind, (kind == .video ? video : audio)?.codec.clockRate)
        }
    }

    /// The packet on this viewer's clock.
    private func placed(_ packet: MediaPacket, _ kind: MediaKind, _ clockRate: Int?) -> MediaPacket {
        guard let clockRate else { return packet }
        let pts = kind == .video ? clock.place(packet.pts) : clock.placeSound(packet.pts)
        return packet.moved(to: pts, clockRate: clockRate)
    }

    func keyFrameRequested(mid: String, at now: NIODeadline) {
        guard mid == connection.sections[.video], let peer = connection.peer, let video,
            let next = connection.feed.nextPicture
        else { return }
        let action = recovery.keyFrameRequested(
            lacking: peer.undelivered(mid: mid), keyFrame: video.ring.newestKeyFrame, sent: next, at: now)
        switch action {
        case .none: break
        case .repair(let sequences): peer.repair(sequences, mid: mid)
        case .restart:
            recovery.started(at: now)
            connection.restartPicture(video, at: now)
            beginClock()
            pump(at: now)
        }
    }

    func retransmissionRequested(mid: String, _ sequences: [Int64]) {
        let kind = mid == connection.sections[.video] ? MediaKind.video : .audio
        guard let track = kind == .video ? video : audio else { return }
        for sequence in sequences {
            guard let packet = track.ring.packet(sequence: sequence) else { continue }
            connection.peer?.resend(placed(packet, kind, track.codec.clockRate), mid: mid)
        }
    }

    // MARK: The end

    func ended() {
        endGathering()
        releaseSound()
    }

    private func releaseSound() {
        guard sound == .opus else { return }
        sound = .original
        connection.sections[.audio] = nil
        stream.removeOpusListener()
    }
}
