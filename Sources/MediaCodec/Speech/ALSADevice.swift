import Glibc
import IoTCore

/// An open sound device: 48 kHz, mono, 16 bits; alsa-lib converts if the device cannot do that. All calls may block.
///
/// Not Sendable.
final class ALSADevice {
    enum Direction: CInt {
        case playback = 0
        case capture = 1

        /// The program that lists the devices.
        var tool: String { self == .playback ? "aplay" : "arecord" }
    }

    /// 10 ms.
    static let period = SpeechFormat.sampleRate / 100
    /// µs
    private static let latency: CUnsignedInt = 60_000
    // asoundlib.h: SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED.
    private static let signed16: CInt = 2
    private static let interleaved: CInt = 3

    /// A device that takes nothing after so many repairs has failed.
    private static let mostAttempts = 8

    private let name: String
    private let direction: Direction
    private let library: ALSALibrary
    private let device: OpaquePointer

    /// How often the device had no sound to play, or sound was not read in time.
    private(set) var overruns = 0

    /// - Parameters:
    ///   - name: a name of `aplay -L`, for example `default` or `plughw:CARD=Device`.
    ///   - library: `nil` loads alsa-lib.
    /// - Throws: 25016 `codecUnsupported` (alsa-lib is not installed), 21031 `invalidParameter`, 25042
    ///   `sourceNotFound`, 25046 `sourceForbidden`, 25045 `sourceBusy`, 25011 `sourceUnsupported`, 25010
    ///   `sourceUnreachable`.
    init(_ name: String, _ direction: Direction, library: ALSALibrary? = nil) throws(IoTError) {
        guard CameraLoudspeaker.isDevice(name) else {
            throw IoTError(
                .invalidParameter, "'\(name)' is not the name of a sound device",
                remedy: "use a name that `\(direction.tool) -L` lists, for example plughw:CARD=Device")
        }
        let library = if let library { library } else { try ALSALibrary.load() }
        var device: OpaquePointer?
        let result = library.open(&device, name, direction.rawValue, 0)
        guard result >= 0, let device else { throw Self.failure(library, result, name, direction, "opening") }
        let set = library.setParameters(
            device, Self.signed16, Self.interleaved, 1, CUnsignedInt(SpeechFormat.sampleRate), 1, Self.latency)
        guard set >= 0 else {
            _ = library.close(device)
            throw Self.failure(library, set, name, direction, "setting the format of")
        }
        self.name = name
        self.direction = direction
        self.library = library
        self.device = device
    }

    deinit {
        _ = library.close(device)
    }

    /// At most 10 ms of sound; none after an overrun.
    func read() throws(IoTError) -> [Int16] {
        var result = 0
        let samples = [Int16](unsafeUninitializedCapacity: Self.period) { target, count in
            guard let start = target.baseAddress else { return }
            result = library.read(device, start, CUnsignedLong(Self.period))
            count = max(0, min(result, Self.period))
        }
        if result < 0 { try recover(result, "reading") }
        return samples
    }

    /// Returns when the device has taken all samples.
    func write(_ samples: [Int16]) throws(IoTError) {
        var rest = samples[...]
        var attempts = 0
        while !rest.isEmpty {
            let result = rest.withUnsafeBytes { bytes in
                bytes.baseAddress.map { library.write(device, $0, CUnsignedLong(rest.count)) } ?? 0
            }
            if result > 0 {
                rest = rest.dropFirst(result)
                continue
            }
            attempts += 1
            try recover(attempts < Self.mostAttempts ? result : CLong(-EIO), "playing on")
        }
    }

    /// Returns when everything was played.
    func drain() {
        _ = library.drain(device)
    }

    private func recover(_ result: CLong, _ action: String) throws(IoTError) {
        let code = CInt(clamping: result)
        overruns += 1
        guard library.recover(device, code, 1) >= 0 else {
            throw Self.failure(library, code, name, direction, action)
        }
    }

    private static func failure(
        _ library: ALSALibrary, _ result: CInt, _ name: String, _ direction: Direction, _ action: String
    ) -> IoTError {
        let cause = SystemCallError(code: -result)
        let reason = library.describe(result).map { String(cString: $0) } ?? cause.description
        switch -result {
        case ENOENT:
            return IoTError(
                .sourceNotFound, "there is no sound device '\(name)'",
                remedy: "connect it; `\(direction.tool) -L` lists the devices", underlying: cause)
        case EACCES, EPERM:
            return IoTError(
                .sourceForbidden, "the daemon may not open the sound device '\(name)'",
                remedy: "add the daemon's user to the group `audio` (`usermod -aG audio USER`), and restart the daemon",
                underlying: cause)
        case EBUSY:
            return IoTError(
                .sourceBusy, "the sound device '\(name)' is in use",
                remedy: "find the program that uses it with `fuser -v /dev/snd/*` and end it", underlying: cause)
        case EINVAL:
            return IoTError(
                .sourceUnsupported, "the sound device '\(name)' does not support 48 kHz, mono, 16 bits: \(reason)",
                remedy: "let alsa-lib convert: use plughw: in place of hw:", underlying: cause)
        default:
            return IoTError(
                .sourceUnreachable, "\(action) the sound device '\(name)' failed: \(reason)",
                remedy: "check its cable; the kernel's log (`dmesg`) has the driver's messages", underlying: cause)
        }
    }
}

extension ThreadedLoudspeaker {
    /// Plays on an ALSA device.
    package convenience init(alsaDevice name: String) {
        self.init(name: "talk ALSA") { () throws(IoTError) in try ALSAOutput(name) }
    }
}

private final class ALSAOutput: SoundOutput {
    private let device: ALSADevice

    init(_ name: String) throws(IoTError) {
        device = try ALSADevice(name, .playback)
    }

    func write(_ samples: [Int16]) throws(IoTError) { try device.write(samples) }
    func finish() { device.drain() }
}
