import IoTCore

// The texts of the findings. The advice is the guide's.
extension Diagnosis.Finding {
    private static let network = [
        "the camera's network: try another one, or a cable", "this machine's network: try another one",
    ]
    private static let device =
        "the camera: its log, and the load of its processor"

    static func failed(_ failure: IoTError) -> Self {
        let text = "\(failure.code.rawValue) \(failure.code.name): \(failure.message)"
        switch failure.code {
        case .handshakeTimeout, .noRelayAddress, .timeoutDisconnected:
            return Self(
                problem: .noRoute, part: .connection, message: "there is no route to the camera (\(text))",
                advice: [
                    "firewalls: UDP must pass between both machines, in both directions",
                    "`media.listen` of both: 127.0.0.1 is reachable on the same machine only",
                    "`media.iceServers`: behind two NATs a TURN server is needed",
                ])
        case .deviceOffline, .peerTimeout:
            return Self(
                problem: .deviceOffline, part: .connection, message: "the camera does not answer (\(text))",
                advice: ["the camera's power and network"] + [device])
        case .callSendTimeout, .linkUnavailable:
            return Self(
                problem: .linkOffline, part: .connection, message: "this gateway does not reach its hub (\(text))",
                advice: ["`iotctl status`: the state of the link and its reason"])
        case .deviceDisabled, .cameraOff:
            return Self(
                problem: .cameraOff, part: .connection, message: "the camera is switched off (\(text))",
                advice: [failure.remedy])
        case .sourceUnreachable, .sourceUnsupported, .sourceRefused, .sourceHostUnknown, .sourceNotFound, .sourceBusy,
            .sourceForbidden:
            return Self(
                problem: .sourceFailed, part: .connection, message: "the camera's source fails (\(text))",
                advice: [failure.remedy, "`iotctl camera test` on the camera's box"])
        default:
            return Self(
                problem: .refused, part: .connection, message: "the channel failed (\(text))",
                advice: [failure.remedy])
        }
    }

    static func slowConnection(_ time: Double) -> Self {
        Self(
            problem: .slowConnection, part: .connection,
            message: "connecting took \(seconds(time)) s, more than 1 s", advice: network + [device])
    }

    static let noHeader = Self(
        problem: .noHeader, part: .data, message: "the camera did not describe its picture and sound",
        advice: ["the camera: does it send the description of its tracks?"])

    static let noPicture = Self(
        problem: .noPicture, part: .data, message: "the camera announced a picture and sent none",
        advice: ["the camera: has it stopped sending?", device] + network)

    static func slowData(_ time: Double) -> Self {
        Self(
            problem: .slowData, part: .data,
            message: "the first picture came \(seconds(time)) s after the connection, more than 1 s",
            advice: network + ["the camera: slow encoding, or rare key frames", device])
    }

    static func slowSource(rate: Double, announced: Double) -> Self {
        Self(
            problem: .slowSource, part: .data,
            message:
                "the camera sends \(seconds(rate)) pictures a second and announces \(seconds(announced))",
            advice: ["the camera's settings: frame rate, exposure in the dark", device] + network)
    }

    static func keyFramesFarApart(_ distance: Double) -> Self {
        Self(
            problem: .keyFramesFarApart, part: .data,
            message: "key frames are \(seconds(distance)) s apart or more; after a loss the picture is frozen as long",
            advice: ["the camera's settings: key frame interval (I-frame interval, GOP) of 1 to 4 s"])
    }

    static func lossyNetwork(_ share: Double) -> Self {
        Self(
            problem: .lossyNetwork, part: .data,
            message: "\(seconds(share * 100)) % of the packets are lost", advice: network)
    }

    static func unsteadyNetwork(_ times: ProcessingTimeReport) -> Self {
        Self(
            problem: .unsteadyNetwork, part: .data,
            message:
                "frames need \(seconds(times.p50)) s from their arrival to the screen, and up to \(seconds(times.p95)) s",
            advice: ["look for 'jitter stalled' in the log: a large tolerance means a bad network"] + network)
    }

    static func tracksApart(_ distance: Double) -> Self {
        Self(
            problem: .tracksApart, part: .data,
            message: "sound and picture are \(seconds(abs(distance))) s apart, more than 1 s",
            advice: ["the camera: both tracks must be stamped by one clock, in µs"])
    }

    static let undecodable = Self(
        problem: .undecodable, part: .decoding, message: "pictures arrive and none can be decoded",
        advice: [
            "the header (stage 4) must describe the stream that is sent",
            "the camera's stream: record it (`iotctl monitor ID --record FILE`) and play it with ffplay or VLC",
        ])

    static func slowStart(_ time: Double) -> Self {
        Self(
            problem: .slowDecoder, part: .decoding,
            message: "the first picture was shown \(seconds(time)) s after it came, more than 1 s",
            advice: decoding)
    }

    static func slowDecoder(time: Double, rate: Double) -> Self {
        Self(
            problem: .slowDecoder, part: .decoding,
            message:
                "decoding a picture takes \(seconds(time * 1000)) ms: too long for \(seconds(rate)) pictures a second",
            advice: decoding)
    }

    private static let decoding = [
        "this machine's load (`top`), and whether it is throttled",
        "a smaller picture: `iotctl monitor ID --definition low`, or the camera's settings",
        "the header (stage 4) must describe the stream that is sent",
        "the camera's stream: record it (`iotctl monitor ID --record FILE`) and play it with ffplay or VLC",
    ]

    static let noSound = Self(
        problem: .noSound, part: .sound, message: "the camera announced sound and sent none",
        advice: ["the camera's settings: microphone and audio stream"])

    static let silentSound = Self(
        problem: .silentSound, part: .sound, message: "the sound is silent",
        advice: ["the camera: is its microphone muted, or its volume 0?"])

    /// At most two decimals, without trailing zeros.
    private static func seconds(_ value: Double) -> String {
        let hundredths = Int64((value * 100).rounded())
        let (whole, rest) = (hundredths / 100, hundredths % 100)
        if rest == 0 { return String(whole) }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}
