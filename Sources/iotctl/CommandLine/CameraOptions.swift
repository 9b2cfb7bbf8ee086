import ArgumentParser
import GatewayAPI
import IoTCore

/// How to open a camera's source, in addition to its URL: one option for each such key of the API.
struct CameraLogin: ParsableArguments {
    @Option(help: "The user name at the camera.")
    var username: String?

    @Option(
        help: ArgumentHelp(
            "A file with the password; - reads standard input, or asks on a terminal.", valueName: "file"),
        completion: .file())
    var passwordFile: String?

    @Option(
        help: ArgumentHelp(
            "The SHA-256 fingerprint of the camera's certificate (rtsps://, https://); any accepts every one.",
            valueName: "fingerprint"))
    var certificate: String?

    @Option(help: "The transport of the media in RTSP.")
    var transport: RTSPTransport?

    @Option(help: "The maximum size of a V4L2 camera's pictures.")
    var pictureSize: CaptureSize?

    @Option(help: ArgumentHelp("The pictures per second of a V4L2 camera.", valueName: "n"))
    var frameRate: Int?

    /// Sets all keys except the password.
    func give(to camera: inout CameraSettings) {
        camera.username = username
        camera.certificate = certificate
        camera.$rtspTransport.given = transport
        camera.$pictureSize.given = pictureSize
        camera.$frameRate.given = frameRate
    }

    func validate() throws {
        guard certificate.map({ CameraTrust($0) != nil }) ?? true else {
            throw ValidationError("--certificate \(CameraTrust.requirement)")
        }
    }

    func password() throws -> String? {
        try passwordFile.map { try SecretInput.read($0) }
    }
}

/// One option for each key of the API that does not concern the source.
struct CameraOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The largest number of viewers at once.", valueName: "n"))
    var viewers: Int?

    @Option(
        help: ArgumentHelp(
            "Where to play what people say: auto, none, alsa:DEVICE or file:PATH.wav.", valueName: "loudspeaker"))
    var talk: String?

    @Option(
        help: ArgumentHelp(
            "What to do with live calls: none refuses them, accept takes them, ask lets them ring.",
            valueName: "policy"))
    var live: CameraLivePolicy?

    @Option(
        help: ArgumentHelp(
            "Whether gateways on its network reach it without the hub: allow or refuse (with lan.listen).",
            valueName: "policy"))
    var lan: CameraLANPolicy?

    @Option(
        help: ArgumentHelp(
            "What the camera's box records: none, continuous, or events (needs recording.directory).",
            valueName: "policy"))
    var record: CameraRecordPolicy?

    @Option(
        help: ArgumentHelp(
            "When the camera is recorded, such as 'mon-fri 08:00-18:00, sat 22:00-06:00'.", valueName: "times"))
    var recordTimes: String?

    @Option(help: "Whether this box looks for motion in the camera's pictures, and how small it may be.")
    var motion: MotionSensitivity?

    @Option(
        help: ArgumentHelp(
            "Where motion does not count: LEFT,TOP,WIDTH,HEIGHT in per cent, such as '0,0,30,8; 70,90,30,10'.",
            valueName: "areas"))
    var motionIgnore: String?

    @Option(
        help: ArgumentHelp(
            "Get what the camera's own detectors notice from its ONVIF service at this port.", valueName: "port"))
    var onvifPort: Int?

    @Option(
        help: "Whose firmware is upgraded over the hub: the box's, or the camera's own (needs --onvif-port).")
    var firmware: CameraFirmwareKind?

    @Option(help: "Whether the recordings have the camera's sound.")
    var recordSound: CameraRecordSound?

    @Option(
        help: ArgumentHelp(
            "The most bytes of the camera's recordings; then the oldest are removed.", valueName: "n"))
    var recordBytes: Int?

    @Option(
        help: ArgumentHelp("After how many days the camera's recordings are removed.", valueName: "n"))
    var recordDays: Int?

    @Option(
        help: ArgumentHelp(
            "The fingerprints of the keys of gateways that may call the camera, separated by commas; others are refused.",
            valueName: "fingerprints"))
    var callers: String?

    @Option(help: ArgumentHelp("The source of the definition mid, a smaller picture.", valueName: "url"))
    var midUrl: String?

    @Option(help: ArgumentHelp("The source of the definition low, the smallest picture.", valueName: "url"))
    var lowUrl: String?

    @Option(
        help: ArgumentHelp(
            "Further cameras behind the device, such as a recorder's channels: the sources from 1 on, separated by spaces.",
            valueName: "urls"))
    var sources: String?

    func give(to camera: inout CameraSettings) {
        camera.$viewers.given = viewers
        camera.$talk.given = talk
        camera.$live.given = live
        camera.$lan.given = lan
        camera.$record.given = record
        camera.recordTimes = recordTimes
        camera.$recordSound.given = recordSound
        camera.recordBytes = recordBytes
        camera.recordDays = recordDays
        camera.$motion.given = motion
        camera.motionIgnore = motionIgnore
        camera.onvifPort = onvifPort
        camera.$firmware.given = firmware
        camera.callers = callers
        camera.midUrl = midUrl.map(CameraSourceOptions.absolute)
        camera.lowUrl = lowUrl.map(CameraSourceOptions.absolute)
        camera.sources = sources.flatMap { SourceList($0) }?.map(CameraSourceOptions.absolute) ?? sources
    }

    func validate() throws {
        guard callers.map({ CallerKeys($0) != nil }) ?? true else {
            throw ValidationError("--callers \(CallerKeys.requirement)")
        }
        guard recordTimes.map({ RecordingTimes($0) != nil }) ?? true else {
            throw ValidationError("--record-times \(RecordingTimes.requirement)")
        }
        guard motionIgnore.map({ PictureAreas($0) != nil }) ?? true else {
            throw ValidationError("--motion-ignore \(PictureAreas.requirement)")
        }
        guard sources.map({ SourceList($0) != nil }) ?? true else {
            throw ValidationError("--sources \(SourceList.requirement)")
        }
        for url in [midUrl, lowUrl] + (sources.flatMap { SourceList($0) }?.urls ?? []) {
            if let url { try CameraSourceOptions.check(url) }
        }
    }
}
