import IoTCore
import Logging
import NIOCore
import PeerTransport
import RTP

/// A change of a call's definition while it plays: the stream continues at the next key frame of the other rendition, so
/// that nothing is missing in between.
extension ViewerConnection {
    struct PendingDefinition {
        let choice: CameraDefinitions.Choice
        let respond: ControlServer.Respond
        let timeout: Scheduled<Void>
    }

    /// A change whose choice depends on heights that are not known yet.
    struct UndecidedDefinition {
        let wanted: [WantedDefinition]
        let respond: ControlServer.Respond
    }

    /// How long to wait for the other source and its next key frame. Some cameras send one every ten seconds.
    static let definitionPatience = TimeAmount.seconds(15)

    /// The definition that the viewer gets.
    var definition: Definition { isSoundOnly ? .audio : run.rendition.definition }

    /// All definitions of what the viewer watches; the caller of a live call has one.
    var definitions: [Definition] {
        if watchedCall != nil { return [.high] }
        return source == .main ? stream.definitions.all : CameraDefinitions.ofFurtherCameras
    }

    var definitionReport: JSONValue {
        [
            "definition": .string(definition.rawValue),
            "definitions": .array(definitions.map { .string($0.rawValue) }),
        ]
    }

    /// Changes to the first wanted definition that the camera has; responds when the change has taken effect. A newer
    /// change replaces an older one.
    ///
    /// - Parameter params: `definition`, as in `WantedDefinition.list`.
    func changeDefinition(_ params: JSONValue, _ respond: @escaping ControlServer.Respond) throws(IoTError) {
        guard let wanted = params["definition"]?.stringValue.flatMap(WantedDefinition.list) else {
            throw IoTError(.invalidParameter, "'definition' " + WantedDefinition.requirement)
        }
        guard watchedCall == nil else {
            throw IoTError(.operationNotAllowed, "the caller of a live call has no definitions")
        }
        guard source == .main else {
            throw IoTError(.operationNotAllowed, "sources from 1 on have no other definitions")
        }
        undecided?.respond(.failure(Self.replaced))
        undecided = nil
        let definitions = stream.definitions
        guard definitions.dependsOnHeights(wanted) else { return try changeDefinition(to: wanted, respond) }
        undecided = UndecidedDefinition(wanted: wanted, respond: respond)
        // One wait, however often a viewer asks.
        let id = ObjectIdentifier(definitions)
        guard awaited.insert(id).inserted else { return }
        definitions.untilHeightsAreKnown().assumeIsolated().whenComplete { [weak self] _ in
            guard let self else { return }
            awaited.remove(id)
            guard let undecided else { return }
            self.undecided = nil
            do throws(IoTError) {
                try changeDefinition(to: undecided.wanted, undecided.respond)
            } catch {
                undecided.respond(.failure(error))
            }
        }
    }

    private static let replaced = IoTError(.hungUp, "a newer change of the definition replaced this one")

    private func changeDefinition(
        to wanted: [WantedDefinition], _ respond: @escaping ControlServer.Respond
    ) throws(IoTError) {
        let choice = try stream.definitions.choose(wanted, current: run.hasSound ? run.rendition : nil)
        endPending(.failure(Self.replaced))
        guard choice.definition != definition else { return respond(.success(definitionReport)) }
        let timeout = stream.eventLoop.assumeIsolated().scheduleTask(in: Self.definitionPatience) { [weak self] in
            guard let self else { return }
            endPending(.failure(IoTError(.messageTimeout, "no key frame of the definition came in time")))
        }
        pending = PendingDefinition(choice: choice, respond: respond, timeout: timeout)
        // One wait for each rendition, however often a viewer asks.
        let id = ObjectIdentifier(choice.rendition)
        guard awaited.insert(id).inserted else { return }
        choice.rendition.untilReady().assumeIsolated().whenComplete { [weak self] result in
            guard let self else { return }
            awaited.remove(id)
            guard let pending, pending.choice.rendition === choice.rendition else { return }
            switch result {
            case .success: opened(pending.choice, at: stream.eventLoop.now)
            case .failure(let error):
                endPending(.failure(error as? IoTError ?? IoTError(.internalFailure, underlying: error)))
            }
        }
    }

    private func opened(_ choice: CameraDefinitions.Choice, at now: NIODeadline) {
        do throws(IoTError) {
            try requireCompatible(choice)
        } catch {
            return endPending(.failure(error))
        }
        // A viewer without a picture does not wait for the next key frame, if there is one: it starts as at first.
        let starts = isSoundOnly || !feed.isStarted
        let hasPicture = choice.rendition.video?.ring.newestKeyFrameSequence != nil && canShow(choice.rendition)
        if choice.definition == .audio || starts && hasPicture { apply(choice, at: now) }
    }

    /// The section's codec was agreed on for the whole call.
    private func requireCompatible(_ choice: CameraDefinitions.Choice) throws(IoTError) {
        if choice.definition == .audio {
            guard sections[.audio] != nil, viewer?.canHear(choice.rendition) == true else {
                throw IoTError(
                    .operationNotAllowed, "this call has no sound, or the sound has another format",
                    remedy: "open a new channel with the definition 'audio'")
            }
            return
        }
        guard sections[.video] != nil, let video = choice.rendition.video, video.codec.format == videoFormat else {
            throw IoTError(
                .operationNotAllowed,
                "the definition '\(choice.definition.rawValue)' has another picture format than this call, or none",
                remedy: "open a new channel with this definition")
        }
        if choice.rendition.hasReordered, viewer?.canReorder == false { throw BrowserOffer.reordered }
    }

    /// Whether the pictures come in the order of presentation, or the viewer needs no such order. Until enough pictures
    /// have come, a source that may reorder them is not shown to a browser.
    private func canShow(_ rendition: Rendition) -> Bool {
        viewer?.canReorder == true || !rendition.isReordered
    }

    /// A key frame came in one of the camera's renditions.
    func keyFrameCame(in rendition: Rendition, at now: NIODeadline) {
        guard let pending, pending.choice.rendition === rendition, pending.choice.definition != .audio,
            rendition.video?.codec.format == videoFormat, canShow(rendition)
        else { return }
        apply(pending.choice, at: now)
    }

    private func apply(_ choice: CameraDefinitions.Choice, at now: NIODeadline) {
        isSoundOnly = choice.definition == .audio
        var last = run
        if choice.rendition !== last.rendition {
            last.lastTracks = [.video: last.rendition.video, .audio: audio(of: last)].compactMapValues { $0?.identity }
            earlierRuns = earlierRuns.suffix(1) + [last]
            run = ViewerRun(choice.rendition, after: last)
            run.hasSound = viewer?.changed(from: last.rendition) ?? false
        }
        if canSend {
            start(video: video, audio: audio, soundIsLive: true, at: now)
            viewer?.restarted(at: now)
        }
        note("viewer changed the definition")
        endPending(.success(definitionReport))
    }

    /// Ends every wish for another definition.
    func endChanges(_ error: IoTError) {
        undecided?.respond(.failure(error))
        undecided = nil
        endPending(.failure(error))
    }

    private func endPending(_ result: Result<JSONValue, IoTError>) {
        guard let pending else { return }
        self.pending = nil
        pending.timeout.cancel()
        pending.respond(result)
    }

    // MARK: Tracks

    /// The video track that the viewer gets now.
    var video: CameraTrack? {
        sections[.video] == nil || isSoundOnly ? nil : run.rendition.video
    }

    /// The audio track that the viewer gets now.
    var audio: CameraTrack? {
        sections[.audio] == nil || !run.hasSound ? nil : audio(of: run)
    }

    private func audio(of run: ViewerRun) -> CameraTrack? {
        viewer?.hearsOpus == true ? run.rendition.opus : run.rendition.audio
    }

    /// A packet that the viewer is missing, as it was sent; `nil` if its track has gone.
    func sentPacket(_ sequence: Int64, _ kind: MediaKind) -> MediaPacket? {
        guard let run = ([run] + earlierRuns).first(where: { $0.contains(sequence) }),
            let track = kind == .video ? run.rendition.video : audio(of: run),
            run.firstSequence == self.run.firstSequence || run.lastTracks[kind] === track.identity,
            let packet = track.ring.packet(sequence: sequence - run.firstSequence)
        else { return nil }
        return run.placed(packet, kind, clockRate: track.codec.clockRate)
    }
}
