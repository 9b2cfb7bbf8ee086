public import IoTCore
public import IoTLink
public import Logging
public import MediaCodec
public import MediaPlayer
import NIOCore
public import PeerTransport
import RecordingStore
public import ServiceLifecycle
package import ThingModel

/// A local camera as a device of the hub: it serves its thing model, takes calls and streams.
public final class Camera: Service, Sendable {
    public let settings: CameraSettings
    public let device: DeviceID
    /// The key with which the camera signs; `nil` for a camera without one.
    public let key: DeviceKey?
    /// The UDP port for this camera's viewers.
    public let port: Int

    private let link: any DeviceLink
    private let model: DeviceModel
    private let events: DeviceEvents
    private let messages: DeviceMessages
    let stream: NIOLoopBoundBox<CameraStream>
    private let source: CameraSource
    private let calls: CameraCalls
    private let photos: PhotoTaker
    /// `nil` if the camera is not recorded.
    package let recorder: CameraRecorder?
    private let reporter: RecordingReporter?
    private let motion: MotionWatch?
    private let detectors: (any CameraEventSource)?
    private let noticed: AsyncStream<NoticedDetection>
    private let notice: AsyncStream<NoticedDetection>.Continuation
    private let upgrade: (any CameraUpgrade)?
    private let lan: (@Sendable () -> LANPlace?)?
    private let changes: AsyncStream<Void>
    private let setLogLevel: @Sendable (Logger.Level?) -> Void

    /// - Parameters:
    ///   - settings: `url` contains the source's credentials; `username`, `password` and `passwordFile` are ignored.
    ///   - softwareVersion: the program's version for the device's model; for example 0.1.0 as 1000.
    ///   - iceServers: the STUN and TURN servers for viewers behind other routers.
    ///   - key: the device's signing key; its users store the fingerprint.
    ///   - loudspeaker: makes the loudspeaker of each talk; `nil` for a camera without one.
    ///   - link: the device's own session; the camera runs it.
    ///   - socket: the UDP port for this camera's viewers; the camera's media run on its event loop.
    ///   - certificates: certificates that are made in advance.
    ///   - setLogLevel: called when a user sets `_logLevel`; `nil` for the log level of the rest of the program.
    public convenience init(
        settings: CameraSettings, softwareVersion: UInt32 = 0, iceServers: ICEServers = .none, device: DeviceID,
        key: DeviceKey? = nil, loudspeaker: (@Sendable () -> any Loudspeaker)? = nil, link: LinkSession,
        socket: PeerSocket, certificates: PeerCertificatePool,
        photos: PhotoStore, logger: Logger,
        setLogLevel: @escaping @Sendable (Logger.Level?) -> Void
    ) throws(IoTError) {
        try self.init(
            settings: settings, softwareVersion: softwareVersion, iceServers: iceServers, device: device, key: key,
            loudspeaker: loudspeaker, link: link, socket: socket, certificates: certificates, photos: photos,
            recorder: nil, recordings: nil, logger: logger, setLogLevel: setLogLevel)
    }

    /// - Parameters:
    ///   - recorder: records the main source while the camera is on; the camera closes it.
    ///   - recordings: what it plays to callers; `nil` for a camera that was never recorded.
    ///   - detectors: the camera's own; `nil` for a camera that is not asked.
    ///   - upgrade: upgrades the camera's box or the camera; `nil` for one that is not upgraded over the hub.
    ///   - lan: where the camera is reached without its hub, asked whenever it reports; `nil` for a camera that is not.
    package init(
        settings: CameraSettings, softwareVersion: UInt32 = 0, iceServers: ICEServers = .none, device: DeviceID,
        key: DeviceKey? = nil, loudspeaker: (@Sendable () -> any Loudspeaker)? = nil, link: any DeviceLink,
        socket: PeerSocket, certificates: PeerCertificatePool,
        photos store: PhotoStore, recorder: CameraRecorder?, recordings: CameraRecordings?,
        detectors: (any CameraEventSource)? = nil, upgrade: (any CameraUpgrade)? = nil,
        lan: (@Sendable () -> LANPlace?)? = nil,
        logger: Logger,
        setLogLevel: @escaping @Sendable (Logger.Level?) -> Void
    ) throws(IoTError) {
        self.settings = settings
        self.device = device
        self.key = key
        port = socket.localAddress.port ?? 0
        self.link = link
        self.setLogLevel = setLogLevel
        self.upgrade = upgrade
        self.lan = lan
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        let eventLoop = socket.eventLoop
        let limit = settings.viewers
        let stream = NIOLoopBoundBox.makeBoxSendingValue(
            CameraStream(
                eventLoop: eventLoop, maximumViewers: limit, callsRing: settings.live == .ask, logger: logger,
                loudspeaker: loudspeaker,
                sources: settings.openSources(on: eventLoop)
            ) { continuation.yield() },
            eventLoop: eventLoop)
        self.stream = stream
        self.recorder = recorder
        reporter = recordings.map {
            RecordingReporter(
                recordings: $0, isRecorded: settings.record != .none, link: link, eventLoop: eventLoop)
        }
        self.detectors = detectors
        let (noticed, notice) = AsyncStream.makeStream(
            of: NoticedDetection.self, bufferingPolicy: .bufferingNewest(64))
        (self.noticed, self.notice) = (noticed, notice)
        let motion = MotionWatch(settings) {
            notice.yield(NoticedDetection(source: .pictures, type: .motion, phase: $0))
        }
        self.motion = motion
        let handOff = SourceHandOff(eventLoop) { event in
            stream.value.main.handle(event)
            recorder?.take(event, isOn: stream.value.isOn)
            motion?.take(event, isOn: stream.value.isOn)
        }
        source = CameraSource(settings, eventLoop: eventLoop, onEvent: handOff.take)
        // The hub compares the times of what was written while it was away.
        model = DeviceModel(
            schema: try CameraSchema.make(maximumViewers: limit), link: link, logger: logger,
            now: { link.hubTime / 1000 })
        let constants = CameraSchema.constants(
            settings.sourceKind, sources: 1 + settings.furtherSources.count, softwareVersion: softwareVersion, key: key)
        for (path, value) in constants { try model.report(path, value) }
        if let recorder {
            model.onChange { change in
                guard !CameraSchema.isUnremarkable(change.path) else { return }
                recorder.note(change.path, change.value, kind: change.isMoment ? .moment : .state)
            }
        }
        events = DeviceEvents(link: link, logger: logger)
        messages = DeviceMessages(link: link)
        calls = CameraCalls(
            stream: stream, device: device, key: key, takesLive: settings.live != .none,
            callers: CallerKeys(checked: settings.callers), link: link,
            peers: ViewerPeers(socket: socket, certificates: certificates), iceServers: iceServers,
            recordings: recordings)
        photos = PhotoTaker(stream: stream, store: store, device: device)
    }

    public func run() async throws {
        handleModel()
        messages.onMessage { [weak self] message, responder in
            guard let self else { throw IoTError(.stopping) }
            try await CameraMessages { await self.snapshot() }.answer(message, responder)
        }
        calls.attach()
        source.start()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.link.run() }
            group.addTask { await self.model.run() }
            group.addTask { await self.events.run() }
            group.addTask { await self.calls.run() }
            group.addTask { await self.reportChanges() }
            if let reporter = self.reporter { group.addTask { await reporter.run() } }
            group.addTask { await self.reportDetections(self.noticed) }
            if let detectors = self.detectors {
                group.addTask { await self.watchDetectors(detectors, self.notice) }
            }
            // The link's session ends at a graceful shutdown; then the other tasks end too.
            await group.next()
            source.stop()
            group.cancelAll()
        }
        upgrade?.detach(device)
        let end = stream.eventLoop.makePromise(of: Void.self)
        source.whenEnded { end.succeed() }
        await released(
            stream.eventLoop.flatSubmit { [stream] in
                EventLoopFuture.andAllComplete([stream.value.close(), end.futureResult], on: stream.eventLoop)
            })
        if let recorder { _ = try? await stream.eventLoop.submit { recorder.close() }.get() }
        setLogLevel(nil)
    }

    /// Waits until the sources and the loudspeaker are closed: a device has only one user at a time, this camera may open it
    /// again with other settings, and a source's thread uses the event loop. Waits at most two seconds, because a driver
    /// can hang.
    private func released(_ devices: EventLoopFuture<Void>) async {
        let promise = stream.eventLoop.makePromise(of: Void.self)
        let limit = stream.eventLoop.scheduleTask(in: .seconds(2)) { promise.succeed() }
        devices.cascade(to: promise)
        try? await promise.futureResult.get()
        limit.cancel()
    }

    /// The device's session with its hub.
    public var linkStatus: LinkStatusChange { link.current }

    /// The camera's current state.
    public func snapshot() async -> CameraSnapshot {
        let (settings, device, source) = (settings, device, source)
        let future = stream.eventLoop.submit { [stream] in
            let stream = stream.value
            return CameraSnapshot(
                name: settings.name, device: device, url: settings.redactedURL, source: stream.main.source,
                isOn: stream.isOn, since: stream.since, viewers: stream.viewers.count,
                maximumViewers: stream.maximumViewers, hasLoudspeaker: stream.talk.isOffered,
                talkers: stream.talk.talkers, call: stream.live.map(CameraSnapshot.Call.init),
                media: stream.main.measurement,
                shown: settings.shownWithoutPasswords, droppedPictures: source.droppedPictures)
        }
        guard let snapshot = try? await future.get() else {
            return CameraSnapshot(
                name: settings.name, device: device, url: settings.redactedURL,
                source: .failed(IoTError(.stopping)), isOn: false, since: WallClock.milliseconds(), viewers: 0,
                maximumViewers: 0, media: CameraMeasurement(), shown: CameraSettings(),
                droppedPictures: source.droppedPictures)
        }
        return snapshot
    }

    /// The newest picture as a JPEG, from the stored group of pictures.
    ///
    /// - Throws: the source's error if it gives no picture; `.cameraOff`; `.deviceBusy` while many others are made;
    ///   `.messageTimeout` if no picture came within ten seconds.
    public func picture(_ bounds: PictureBounds?) async throws(IoTError) -> Snapshot {
        try await photos.picture(bounds, waitingAtMost: .seconds(10))
    }

    /// Posts an event for the camera's users.
    func post(_ topic: String, _ body: JSONValue) throws(IoTError) {
        recorder?.note(topic, body, kind: .moment)
        try events.post(topic, body)
    }

    private func handleModel() {
        handleFirmware()
        model.onAction(CameraSchema.Name.cameraOn) { [stream, recorder, motion] value async throws(IoTError) in
            let isOn = value.integerValue != 0
            _ = try? await stream.eventLoop.submit {
                stream.value.turn(on: isOn)
                if !isOn {
                    recorder?.pause()
                    motion?.pause()
                }
            }.get()
            return isOn ? 1 : 0
        }
        model.onAction(CameraSchema.Name.takePhoto) { [photos] _ async throws(IoTError) in
            try await photos.take()
        }
        model.onAction(CameraSchema.Name.acceptCall) { [weak self] value async throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            try await acceptCall(Self.call(value))
            return value
        }
        model.onAction(CameraSchema.Name.refuseCall) { [weak self] value async throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            try await refuseCall(Self.call(value))
            return value
        }
        model.onWrite(CameraSchema.Name.maximumViewers) { [stream] value async throws(IoTError) in
            guard let limit = value.integerValue else { throw IoTError(.valueInvalid) }
            _ = try? await stream.eventLoop.submit { stream.value.maximumViewers = Int(limit) }.get()
        }
        model.onWrite(CameraSchema.Name.rotation) { [stream, recorder] value async throws(IoTError) in
            guard let degrees = value.integerValue, let rotation = PictureRotation(rawValue: Int(degrees)) else {
                throw IoTError(.invalidParameter, "rotation must be 0, 90, 180 or 270 degrees, anti-clockwise")
            }
            _ = try? await stream.eventLoop.submit {
                stream.value.rotation = rotation
                recorder?.turn(rotation)
            }.get()
        }
        model.onWrite(CameraSchema.Name.recordPlan) { [stream, recorder] value async throws(IoTError) in
            guard let recorder else { return }
            try await recorder.store(value)
            _ = try? await stream.eventLoop.submit { recorder.follow(RecordPlan(value)) }.get()
        }
        model.onWrite(CameraSchema.Name.logLevel) { [setLogLevel] value in
            setLogLevel(Logger.Level(modelValue: value.integerValue ?? 0))
        }
    }

    /// The id of a call; `nil` for the one that rings.
    private static func call(_ value: JSONValue) -> String? {
        value.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func handleFirmware() {
        model.onAction(CameraSchema.Name.newestVersion) { [link, model] _ async throws(IoTError) in
            let offer = try await link.request(FirmwareMethod.query, FirmwareQuery())
            let version = JSONValue.string(offer.version ?? offer.currentVersion ?? "")
            try? model.report("ProReadonly.\(CameraSchema.Name.newestVersion).stVal", version)
            return version
        }
        guard let upgrade else { return }
        upgrade.attach(
            device,
            UpgradeReports { [weak model] progress in
                try? model?.report("ProReadonly.\(CameraSchema.Name.upgrade).stVal", .integer(Int64(progress)))
            } identity: { [weak model] identity in
                try? model?.report("ProConst.\(CameraSchema.Name.firmware)", identity.json)
            })
        model.onWrite(CameraSchema.Name.upgradeMode) { [link, device] value in
            upgrade.follow(mode: value.integerValue ?? 0, of: device, over: link)
        }
        model.onAction(CameraSchema.Name.upgrade) { [link] value async throws(IoTError) in
            switch value.integerValue {
            case 0: try upgrade.cancel()
            case 1: try upgrade.start(over: link)
            default: throw IoTError(.valueInvalid, "_otaUpgrade is 1 to start an upgrade, or 0 to cancel it")
            }
            return value
        }
    }

    /// Keeps the model up to date.
    private func reportChanges() async {
        var reports = MeasurementReports()
        var sourceEvents = CameraSourceEvents()
        var liveEvents = LiveCallEvents()
        var rang: String?
        for await _ in changes {
            let now = await snapshot()
            for event in [sourceEvents.event(for: now.source)].compactMap(\.self) + liveEvents.events(for: now.call) {
                try? post(event.topic, event.body)
            }
            if let call = now.call, call.isRinging, rang != call.id {
                // Somebody at the door: what came before it is recorded, too.
                rang = call.id
                _ = try? await detected(.call, for: .nanoseconds(LiveCall.ringingTime.nanoseconds))
            }
            reports.measured(now.media, at: .now())
            // The order matters: who reads that the source failed must be able to read the reason.
            let values: KeyValuePairs<String, JSONValue?> = [
                CameraSchema.Name.cameraOn: .integer(now.isOn ? 1 : 0),
                CameraSchema.Name.viewers: .integer(Int64(now.viewers)),
                CameraSchema.Name.talkers: .integer(Int64(now.talkers)),
                CameraSchema.Name.liveCalls: .string(now.liveCalls),
                CameraSchema.Name.sourceFailure: now.source.failureValue,
                CameraSchema.Name.source: .string(now.source.name),
                CameraSchema.Name.video: reports.reported.videoValue,
                CameraSchema.Name.audio: reports.reported.audioValue,
                CameraSchema.Name.lan: lan?()?.value,
            ]
            for case (let name, let value?) in values { try? model.report("ProReadonly.\(name).stVal", value) }
        }
    }
}
