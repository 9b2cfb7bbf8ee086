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
    /// The format of the sound that it gets unchanged.
    private var audioCodec: RTPCodec?
    /// The newest picture that was sent, on the source's clock.
    private var lastSent: Int64?
    private var recovery = KeyFrameRecovery()

    init(_ connection: ViewerConnection) {
        self.connection = connection
        connection.viewer = self
    }

    private var stream: CameraStream { connection.stream }

    var hearsOpus: Bool { sound == .opus }
    let canReorder = false

    private var video: CameraTrack? { connection.video }
    private var audio: CameraTrack? { connection.audio }

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
            offer, video: rendition.video?.codec, isReordered: rendition.isReordered, audio: rendition.audio?.codec)
        var configuration = connection.configuration(isControlling: false)
        // The answer waits for our candidates, but not for servers that did not answer before.
        configuration.ice.serversNotAwaited = stream.silentServers
        if let mid = choice.video, let track = rendition.video {
            connection.sections[.video] = mid
            configuration.sections.append(connection.section(.video, mid: mid, track))
        }
        if let (mid, sound) = choice.audio {
            do throws(IoTError) {
                if sound == .opus { try rendition.addOpusListener() }
                self.sound = sound
                audioCodec = rendition.audio?.codec
                connection.sections[.audio] = mid
                if let audio { configuration.sections.append(connection.section(.audio, mid: mid, audio)) }
            } catch {
                // If the sound cannot be decoded, the browser still gets the picture.
                guard choice.video != nil else { throw error }
            }
        }
        guard !connection.isSoundOnly || connection.sections[.audio] != nil else {
            throw IoTError(
                .sessionDescriptionInvalid, "the offer asks for no sound, and the definition is 'audio'",
                remedy: "offer a recvonly section for audio, or ask for another definition")
        }
        if let mid = TalkSection.offered(in: offer), connection.mayTalk {
            connection.addTalk(TalkSection.receiving(mid: mid), to: &configuration)
        }
        if let mid = CallerSection.offered(in: offer), connection.isLive {
            connection.addCaller(CallerSection.receiving(mid: mid), to: &configuration)
        }
        if offer.dataSection != nil { configuration.dataChannels = .call }
        var names = Set(connection.sections.values)
        names.formUnion([connection.talkSection, connection.callerSection].compactMap(\.self))
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
        if let edge = rendition.newest?.pts {
            let start = video.flatMap { $0.ring.packet(sequence: $0.startSequence)?.pts } ?? edge
            connection.run.clock.begin(start: start, edge: edge, after: lastSent)
        }
        clockChanged()
    }

    func clockChanged() {
        let run = connection.run
        guard let source = run.rendition.clock else { return }
        connection.peer?.mediaClockAnchor = MediaClockAnchor(pts: run.clock.live(source.pts), wallClock: source.wall)
    }

    func clockJumped(to pts: Int64, expected: Int64) {
        connection.run.clock.jump(to: pts, expected: expected)
    }

    /// RTP carries no decoding times, so the browser would show the pictures in the order of arrival.
    func picturesReordered() { end(BrowserOffer.reordered) }

    func pump(at now: NIODeadline) {
        let (video, audio, run) = (video, audio, connection.run)
        connection.pump(video: video, audio: audio, at: now) { packet, kind in
            if kind == .video { lastSent = max(lastSent ?? packet.pts, packet.pts) }
            guard let track = kind == .video ? video : audio else { return packet }
            return run.placed(packet, kind, clockRate: track.codec.clockRate)
        }
    }

    func keyFrameRequested(mid: String, at now: NIODeadline) {
        guard mid == connection.sections[.video], let peer = connection.peer, let video,
            let next = connection.feed.nextPicture
        else { return }
        let first = connection.run.firstSequence
        let action = recovery.keyFrameRequested(
            lacking: peer.undelivered(mid: mid).map { $0 - first }, keyFrame: video.ring.newestKeyFrame, sent: next,
            at: now)
        switch action {
        case .none: break
        case .repair(let sequences): peer.repair(sequences.map { $0 + first }, mid: mid)
        case .restart:
            recovery.started(at: now)
            connection.restartPicture(video, at: now)
            beginClock()
            pump(at: now)
        }
    }

    func retransmissionRequested(mid: String, _ sequences: [Int64]) {
        let kind = mid == connection.sections[.video] ? MediaKind.video : .audio
        for sequence in sequences {
            guard let packet = connection.sentPacket(sequence, kind) else { continue }
            connection.peer?.resend(packet, mid: mid)
        }
    }

    func canHear(_ rendition: Rendition) -> Bool {
        guard let codec = rendition.audio?.codec else { return false }
        return hearsOpus || codec == audioCodec
    }

    func changed(from last: Rendition) -> Bool {
        lastSent = nil
        guard sound == .opus else { return canHear(rendition) }
        last.removeOpusListener()
        do throws(IoTError) {
            try rendition.addOpusListener()
            return true
        } catch {
            // The picture continues without sound.
            sound = .original
            audioCodec = nil
            return false
        }
    }

    func restarted(at now: NIODeadline) {
        recovery.started(at: now)
        beginClock()
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
        rendition.removeOpusListener()
    }
}
