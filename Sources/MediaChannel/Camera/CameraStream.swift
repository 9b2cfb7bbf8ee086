import IoTCore
import IoTLink
import Logging
import MediaCodec
import NIOCore
import PeerTransport

/// A camera's renditions and viewers. Confined to one event loop.
final class CameraStream {
    /// Media section names and payload types in every offer.
    enum Section {
        static let video = "video"
        static let audio = "audio"
        static let videoPayloadType: UInt8 = 96
        static let audioPayloadType: UInt8 = 97
        static let opusPayloadType: UInt8 = 98
    }

    let eventLoop: any EventLoop
    let logger: Logger
    let onChange: () -> Void
    /// µs since 1970.
    private let wallClock: () -> Int64

    /// The renditions of the camera's definitions.
    let definitions: CameraDefinitions
    /// When the camera was last switched on or off: ms since 1970.
    private var switched: Int64 = 0
    private(set) var viewers: [String: any CameraViewer] = [:]
    private(set) var isOn = true
    private var places: ViewerPlaces

    /// What people say to the camera.
    private(set) lazy var talk = CameraTalk(
        eventLoop: eventLoop, logger: logger,
        makeLoudspeaker: makeLoudspeaker.map { make in
            { [eventLoop] in LoudspeakerHandle(make(), on: eventLoop) }
        }, onChange: onChange)
    private let makeLoudspeaker: (@Sendable () -> any Loudspeaker)?

    /// What users send to the camera, and the program that takes it.
    private(set) lazy var data = CameraData(eventLoop: eventLoop)
    /// The calls that get nothing of the camera's source: they exchange data, or play recordings. They take no viewer's
    /// place.
    private var sideViewers: [String: any CalledViewer] = [:]
    private var dataPlaces: ViewerPlaces
    private var playbackPlaces: ViewerPlaces

    /// The live call in which somebody shows the camera their own picture.
    var live: LiveCall?
    let makeRendition: (Definition) -> Rendition
    /// Whether somebody must accept a live call.
    let callsRing: Bool
    var ringLimit = RingLimit()

    /// URLs of ICE servers that recently did not answer in time.
    var silentServers: Set<String> = []

    /// How far the camera's pictures must be turned to be upright.
    var rotation = PictureRotation.none {
        didSet {
            for case let viewer as any CalledViewer in viewers.values { viewer.connection.sendRotation() }
        }
    }

    private static let maximumDataViewers = 16
    /// All of them read from one disk.
    private static let maximumPlaybackViewers = 8

    var maximumViewers: Int {
        get { places.maximum }
        set { places.maximum = newValue }
    }

    /// `onChange` is called whenever a value in the camera's model may have changed. `loudspeaker` makes a loudspeaker
    /// each time one is opened; `nil` for a camera without one. `callsRing`: whether somebody must accept a live call.
    init(
        eventLoop: any EventLoop, maximumViewers: Int, callsRing: Bool = false, logger: Logger,
        loudspeaker: (@Sendable () -> any Loudspeaker)? = nil,
        sources: [CameraDefinitions.Place: CameraDefinitions.OpenSource] = [:],
        wallClock: @escaping () -> Int64 = { WallClock.microseconds() }, onChange: @escaping () -> Void
    ) {
        self.eventLoop = eventLoop
        self.wallClock = wallClock
        self.callsRing = callsRing
        places = ViewerPlaces(maximum: maximumViewers)
        dataPlaces = ViewerPlaces(maximum: Self.maximumDataViewers)
        playbackPlaces = ViewerPlaces(maximum: Self.maximumPlaybackViewers)
        self.logger = logger
        makeLoudspeaker = loudspeaker
        self.onChange = onChange
        weak var stream: CameraStream?
        let make = { (definition: Definition) in
            weak var rendition: Rendition?
            let made = Rendition(definition, eventLoop: eventLoop, logger: logger, wallClock: wallClock) {
                if let stream, let rendition { stream.isWatched(rendition) } else { false }
            } onEvent: { event in
                if let stream, let rendition { stream.handle(event, of: rendition) }
            }
            rendition = made
            return made
        }
        makeRendition = make
        definitions = CameraDefinitions(main: make(.high), sources: sources, make) { rendition in
            stream?.isWatched(rendition) ?? false
        }
        stream = self
    }

    private func isWatched(_ rendition: Rendition) -> Bool { viewers.values.contains { $0.uses(rendition) } }

    /// The rendition of the main source.
    var main: Rendition { definitions.main }

    private func handle(_ event: Rendition.Event, of rendition: Rendition) {
        let now = eventLoop.now
        switch event {
        case .changed:
            onChange()
        case .packets(let opusOnly):
            guard isOn else { return }
            for viewer in viewers.values { viewer.packetsCame(in: rendition, opusOnly: opusOnly, at: now) }
        case .keyFrame:
            for viewer in viewers.values { viewer.keyFrameCame(in: rendition, at: now) }
        case .clockChanged:
            for viewer in viewers.values where viewer.rendition === rendition { viewer.clockChanged() }
        case .clockJumped(let pts, let expected):
            for viewer in viewers.values where viewer.rendition === rendition {
                viewer.clockJumped(to: pts, expected: expected)
            }
        case .reordered:
            for viewer in viewers.values where viewer.rendition === rendition { viewer.picturesReordered() }
        case .tracksReplaced(let reason):
            for viewer in viewers.values where viewer.rendition === rendition {
                viewers[viewer.session] = nil
                viewer.end(reason)
            }
        }
    }

    /// When the camera's current state began: ms since 1970.
    var since: Int64 { isOn ? max(main.since, switched) : switched }

    /// Completes when there is a picture; fails at once if none can come now, and otherwise after `patience`.
    func untilPicture(within patience: TimeAmount) -> EventLoopFuture<Void> {
        guard isOn else { return eventLoop.makeFailedFuture(IoTError(.cameraOff)) }
        return main.untilPicture(within: patience)
    }

    // MARK: Viewers

    func add(_ viewer: any CameraViewer) throws(IoTError) {
        guard isOn else { throw IoTError(.cameraOff) }
        try places.add(session: viewer.session, user: viewer.account, isOwner: viewer.isOwner)
        viewers[viewer.session] = viewer
        onChange()
    }

    /// A call without media, which a camera that is switched off takes, too.
    func add(_ viewer: DataViewer) throws(IoTError) {
        try dataPlaces.add(session: viewer.session, user: viewer.account, isOwner: viewer.isOwner)
        sideViewers[viewer.session] = viewer
    }

    /// A call that plays recordings, which a camera that is switched off takes, too.
    func add(_ viewer: PlaybackViewer) throws(IoTError) {
        try playbackPlaces.add(session: viewer.session, user: viewer.account, isOwner: viewer.isOwner)
        sideViewers[viewer.session] = viewer
    }

    /// The viewer of a call, by the call's session.
    func called(_ session: String) -> (any CalledViewer)? {
        sideViewers[session] ?? viewers[session] as? any CalledViewer
    }

    /// The viewer's connection is established.
    func takePlace(session: String) throws(IoTError) {
        if let viewer = sideViewers[session] {
            if viewer is PlaybackViewer { return try playbackPlaces.connected(session: session) }
            return try dataPlaces.connected(session: session)
        }
        try places.connected(session: session)
    }

    func remove(session: String) {
        if sideViewers.removeValue(forKey: session) != nil {
            dataPlaces.remove(session: session)
            return playbackPlaces.remove(session: session)
        }
        places.remove(session: session)
        talk.stop(session: session)
        endLive(session: session)
        guard viewers.removeValue(forKey: session) != nil else { return }
        onChange()
    }

    /// Off stops the packets to every viewer; on restarts at the newest key frame.
    func turn(on: Bool) {
        guard on != isOn else { return }
        isOn = on
        switched = wallClock() / 1_000
        if !on { talk.end(IoTError(.cameraOff)) }
        let now = eventLoop.now
        for viewer in viewers.values {
            if on { viewer.restart(at: now) } else { viewer.pause() }
        }
        onChange()
    }

    /// Completes when the loudspeaker and all sources but the main one are closed.
    @discardableResult
    func close() -> EventLoopFuture<Void> {
        let silent = talk.close(IoTError(.stopping))
        data.close()
        let gone = viewers.values.map { $0 as any CameraViewer } + sideViewers.values.map { $0 as any CameraViewer }
        viewers = [:]
        sideViewers = [:]
        gone.forEach { $0.end(IoTError(.stopping)) }
        return EventLoopFuture.andAllComplete([silent, definitions.close()], on: eventLoop)
    }
}
