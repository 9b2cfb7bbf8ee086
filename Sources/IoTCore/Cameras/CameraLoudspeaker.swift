/// Where a camera plays what people say to it: the key `talk` of its settings.
public enum CameraLoudspeaker: Sendable, Hashable {
    /// The RTSP back channel of the camera itself, if it has one.
    case automatic
    case none
    /// A playback device of ALSA at the daemon's machine, for example `default` or `plughw:CARD=Device`.
    case alsa(String)
    /// A WAV file that grows with each talk.
    case file(String)

    /// `nil` for a text with another form.
    public init?(_ text: String) {
        switch text {
        case "auto": self = .automatic
        case "none": self = .none
        default:
            guard let colon = text.firstIndex(of: ":") else { return nil }
            let rest = String(text[text.index(after: colon)...])
            guard rest.isPrintableOnOneLine, (1...256).contains(rest.utf8.count) else { return nil }
            switch text[..<colon] {
            case "alsa" where Self.isDevice(rest): self = .alsa(rest)
            case "file" where rest.isAbsolutePath && rest.utf8.suffix(4).elementsEqual(".wav".utf8): self = .file(rest)
            default: return nil
            }
        }
    }

    /// alsa-lib accepts much more than names of devices: definitions, and plug-ins that write files or run programs.
    package static func isDevice(_ name: String) -> Bool {
        let parts = name.split(omittingEmptySubsequences: false) { ":=,".contains($0) }
        return !name.isEmpty && name.utf8.count <= 128
            && parts.allSatisfy { part in
                part != "file" && part != "tee"
                    && part.utf8.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                        default: false
                        }
                    }
            }
    }

    package static let requirement = "must be auto, none, alsa:DEVICE, or file: and the absolute path of a .wav file"
}
