/// The settings of one camera, from the configuration file, the API or `cameras.json`. `docs/configuration.md` explains
/// each key.
///
/// To add a key: add a property here, a row to the table below, an option in `iotctl` (`CameraOptions`), lines in the
/// documents, and the code that uses it. The tests read the table.
public struct CameraSettings: Sendable, Hashable {
    /// The device's first name, and the key of its directory. Another name makes another device. Required.
    @Setting(default: "") public var name: String

    /// An `rtsp://` or `rtsps://` address, `v4l2:` and a device's path, or a file's path. Required.
    @Setting(default: "") public var url: String

    /// The user at the RTSP camera.
    public var username: String?

    /// That user's password.
    public var password: String?

    /// A file that holds the password.
    public var passwordFile: String?

    /// Which certificate to accept from the sources with `rtsps://`: a form of `CameraTrust`.
    public var certificate: String?

    /// TCP is the default because it passes through firewalls and loses no packets.
    @Setting(default: .tcp) public var rtspTransport: RTSPTransport

    /// The maximum size of captured pictures. One core of a small box encodes the default size at 30 frames per second.
    @Setting(default: .hd) public var pictureSize: CaptureSize

    /// The number of pictures to capture per second. The device uses its nearest rate.
    @Setting(default: 30) public var frameRate: Int

    /// The largest number of viewers at once. Further viewers get error 20007.
    @Setting(default: 8) public var viewers: Int

    /// Where it plays what people say to it; the forms of `CameraLoudspeaker`.
    @Setting(default: "auto") public var talk: String

    /// Whether it takes live calls.
    @Setting(default: .none) public var live: CameraLivePolicy
    /// Whether it is reached without its hub, if the box listens on its network.
    @Setting(default: .allow) public var lan: CameraLANPolicy

    /// What the box records of it.
    @Setting(default: .none) public var record: CameraRecordPolicy

    /// When it is recorded; always without the key. A form of `RecordingTimes`.
    public var recordTimes: String?

    /// Whether the recordings have its sound.
    @Setting(default: .on) public var recordSound: CameraRecordSound

    /// The most bytes of its recordings; without it, `recording.cameraBytes`.
    public var recordBytes: Int?

    /// After how many days its recordings are removed; without it, `recording.maximumDays`.
    public var recordDays: Int?

    /// Whether the box looks for motion in its pictures.
    @Setting(default: .off) public var motion: MotionSensitivity

    /// Where motion does not count. A form of `PictureAreas`.
    public var motionIgnore: String?

    /// The port of its ONVIF service, from which its own detectors' events are got; without it they are not.
    public var onvifPort: Int?

    /// Whose firmware its upgrades are about.
    @Setting(default: .box) public var firmware: CameraFirmwareKind

    /// Which gateways may call it; every one without the key. A form of `CallerKeys`.
    public var callers: String?

    /// The source of the definition `mid`: a smaller picture than that of `url`. It is read while somebody uses it.
    public var midUrl: String?

    /// The source of the definition `low`.
    public var lowUrl: String?
    /// Further cameras behind the device, as `SourceList`.
    public var sources: String?

    public init(
        name: String? = nil, url: String? = nil, username: String? = nil, password: String? = nil,
        passwordFile: String? = nil, certificate: String? = nil, rtspTransport: RTSPTransport? = nil,
        pictureSize: CaptureSize? = nil,
        frameRate: Int? = nil, viewers: Int? = nil, talk: String? = nil,
        live: CameraLivePolicy? = nil, lan: CameraLANPolicy? = nil, record: CameraRecordPolicy? = nil,
        recordTimes: String? = nil,
        recordSound: CameraRecordSound? = nil, recordBytes: Int? = nil, recordDays: Int? = nil,
        motion: MotionSensitivity? = nil, motionIgnore: String? = nil, onvifPort: Int? = nil,
        firmware: CameraFirmwareKind? = nil, callers: String? = nil,
        midUrl: String? = nil, lowUrl: String? = nil, sources: String? = nil
    ) {
        $name.given = name
        $url.given = url
        self.username = username
        self.password = password
        self.passwordFile = passwordFile
        self.certificate = certificate
        $rtspTransport.given = rtspTransport
        $pictureSize.given = pictureSize
        $frameRate.given = frameRate
        $viewers.given = viewers
        $talk.given = talk
        $live.given = live
        $lan.given = lan
        $record.given = record
        self.recordTimes = recordTimes
        $recordSound.given = recordSound
        self.recordBytes = recordBytes
        self.recordDays = recordDays
        $motion.given = motion
        self.motionIgnore = motionIgnore
        self.onvifPort = onvifPort
        $firmware.given = firmware
        self.callers = callers
        self.midUrl = midUrl
        self.lowUrl = lowUrl
        self.sources = sources
    }
}

extension CameraKey {
    /// Every key, in the order in which the API lists them.
    package static let all: [CameraKey] = [
        .text(
            "name", CameraPlace(\.$name), part: .device, traits: .required,
            rule: Rule(
                "must be 1 to 64 bytes of letters, digits, _, - and ., begin with a letter or digit, and not look like "
                    + "an id", DeviceName.isValid)),
        .text("url", CameraPlace(\.$url), form: .source, part: .source, traits: .required),
        .text("username", CameraPlace(\.username), part: .source, traits: [.rtspOnly, .nullable]),
        .text(
            "password", CameraPlace(\.password), part: .source, traits: [.apiOnly, .secret], needs: "username"),
        .text(
            "passwordFile", CameraPlace(\.passwordFile), form: .path, part: .source, traits: .fileOnly,
            needs: "username"),
        .text(
            "certificate", CameraPlace(\.certificate), part: .source, traits: [.shown, .nullable],
            rule: Rule(CameraTrust.requirement) { CameraTrust($0) != nil }),
        .choice(
            "rtspTransport", member: "transport", CameraPlace(\.$rtspTransport), part: .source,
            traits: [.rtspOnly, .shown]),
        .choice("pictureSize", CameraPlace(\.$pictureSize), part: .source, traits: [.v4l2Only, .shown]),
        .wholeNumber("frameRate", CameraPlace(\.$frameRate), in: 1...120, part: .source, traits: [.v4l2Only, .shown]),
        .wholeNumber("viewers", CameraPlace(\.$viewers), in: 1...10_000, part: .viewers),
        .text(
            "talk", CameraPlace(\.$talk), part: .loudspeaker, traits: .shown,
            rule: Rule(CameraLoudspeaker.requirement) { CameraLoudspeaker($0) != nil }),
        .choice("live", CameraPlace(\.$live), part: .calls, traits: .shown),
        .choice("lan", CameraPlace(\.$lan), part: .calls, traits: .shown),
        .choice("record", CameraPlace(\.$record), part: .recording, traits: .shown),
        .text(
            "recordTimes", CameraPlace(\.recordTimes), part: .recording, traits: [.shown, .nullable],
            rule: Rule(RecordingTimes.requirement) { RecordingTimes($0) != nil }),
        .choice("recordSound", CameraPlace(\.$recordSound), part: .recording, traits: .shown),
        .wholeNumber(
            "recordBytes", CameraPlace(\.recordBytes), in: CameraRecordPolicy.byteLimits, part: .recording,
            traits: [.shown, .nullable]),
        .wholeNumber(
            "recordDays", CameraPlace(\.recordDays), in: CameraRecordPolicy.dayLimits, part: .recording,
            traits: [.shown, .nullable]),
        .choice("motion", CameraPlace(\.$motion), part: .recording, traits: .shown),
        .text(
            "motionIgnore", CameraPlace(\.motionIgnore), part: .recording, traits: [.shown, .nullable],
            rule: Rule(PictureAreas.requirement) { PictureAreas($0) != nil }),
        .wholeNumber(
            "onvifPort", CameraPlace(\.onvifPort), in: 1...65_535, part: .recording,
            traits: [.rtspOnly, .shown, .nullable]),
        .choice(
            "firmware", CameraPlace(\.$firmware), part: .recording, traits: [.rtspOnly, .shown], needs: "onvifPort"),
        .text(
            "callers", CameraPlace(\.callers), part: .calls, traits: [.shown, .nullable],
            rule: Rule(CallerKeys.requirement) { CallerKeys($0) != nil }),
        .text(
            "midUrl", CameraPlace(\.midUrl), form: .source, part: .definitions, traits: [.shown, .nullable],
            rule: definitionSource),
        .text(
            "lowUrl", CameraPlace(\.lowUrl), form: .source, part: .definitions, traits: [.shown, .nullable],
            rule: definitionSource),
        .text(
            "sources", CameraPlace(\.sources), form: .sources, part: .definitions, traits: [.shown, .nullable],
            rule: Rule(SourceList.requirement) { SourceList($0) != nil }),
    ]

    private static let definitionSource = Rule<String>("must be an rtsp:// or rtsps:// URL, or a file") {
        !$0.lowercased().hasPrefix("v4l2:")
    }
}

extension CameraSettings {
    /// The sources of the definitions below `high`, with where they are kept.
    package static let definitionSources: [(Definition, any WritableKeyPath<CameraSettings, String?> & Sendable)] = [
        (.mid, \.midUrl), (.low, \.lowUrl),
    ]

    /// `certificate` as a value.
    package var trust: CameraTrust { CameraTrust(checked: certificate) }

    /// Whether a source is encrypted, so that `certificate` is used.
    package var hasEncryptedSource: Bool { !encryptedSources.isEmpty }

    /// The hosts with which `certificate` is used.
    package var encryptedHosts: Set<String> {
        Set(encryptedSources.map { ServiceURL($0, maximumSize: 4_096, checksName: false)?.host ?? $0 })
    }

    private var encryptedSources: [String] {
        ([url, midUrl, lowUrl].compactMap { $0 } + furtherSources).filter { $0.lowercased().hasPrefix("rtsps:") }
    }

    /// `sources` as a list: the sources from 1 on.
    package var furtherSources: [String] { sources.flatMap { SourceList($0) }?.urls ?? [] }

    /// `recordTimes` as a value; `nil` for always.
    package var recordingTimes: RecordingTimes? { recordTimes.flatMap { RecordingTimes($0) } }

    /// `motionIgnore` as a value.
    package var ignoredAreas: PictureAreas? { motionIgnore.flatMap { PictureAreas($0) } }

    /// `talk` as a value.
    package var loudspeaker: CameraLoudspeaker { CameraLoudspeaker(talk) ?? .none }
}
