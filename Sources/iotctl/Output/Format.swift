import Foundation
import GatewayAPI
import IoTCore

/// Formats values for people.
enum Format {
    /// `SHA256:… (ap)`, `SHA256:… (ap, signed by SHA256:…)`; `-` for `nil`.
    static func key(_ key: DeviceKeyDescription?, of detail: DeviceDetail) -> String {
        guard let key else { return "-" }
        let comparison = detail.hasReportedKey ? "" : ", not compared: the hub reports no key"
        let note = key.since == nil ? ", not stored" : comparison
        let signer = key.previous.map { ", signed by \($0)" } ?? ""
        return "\(key.fingerprint) (\(key.source.rawValue)\(signer)\(note))"
    }

    /// `1.2 Mbit/s`
    static func bitrate(_ bitsPerSecond: Int?) -> String {
        guard let bitsPerSecond else { return "-" }
        return switch bitsPerSecond {
        case 10_000_000...: String(format: "%.1f Mbit/s", Double(bitsPerSecond) / 1e6)
        case 1_000_000...: String(format: "%.2f Mbit/s", Double(bitsPerSecond) / 1e6)
        default: "\(bitsPerSecond / 1000) kbit/s"
        }
    }

    /// `3.4 MB`
    static func size(_ bytes: Int) -> String {
        switch bytes {
        case 1_000_000_000_000...: String(format: "%.1f TB", Double(bytes) / 1e12)
        case 1_000_000_000...: String(format: "%.1f GB", Double(bytes) / 1e9)
        case 1_000_000...: String(format: "%.1f MB", Double(bytes) / 1e6)
        case 1000...: String(format: "%.1f kB", Double(bytes) / 1e3)
        default: "\(bytes) bytes"
        }
    }

    /// `34 ms`, `1.25 s`; `-` for `nil`.
    static func seconds(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite else { return "-" }
        // Adding 0 turns −0 into 0.
        let milliseconds = (seconds * 1000).rounded() + 0
        return abs(milliseconds) < 1000
            ? String(format: "%.0f ms", milliseconds) : String(format: "%.2f s", seconds)
    }

    static func duration(_ duration: Duration) -> String {
        let (whole, attoseconds) = duration.components
        return Self.seconds(Double(whole) + Double(attoseconds) / 1e18)
    }

    /// `2 d 3 h`, `5 min 7 s`
    static func uptime(_ seconds: Int) -> String {
        switch seconds {
        case 86400...: "\(seconds / 86400) d \(seconds % 86400 / 3600) h"
        case 3600...: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        case 60...: "\(seconds / 60) min \(seconds % 60) s"
        default: "\(seconds) s"
        }
    }

    /// `2026-01-31 12:00:05`, in the user's time zone; `-` for `nil`.
    static func time(_ milliseconds: Int64?) -> String {
        guard let milliseconds else { return "-" }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    }

    /// `2026-01-31-120005`, in the user's time zone, for the name of a file.
    static func fileTime(_ milliseconds: Int64) -> String {
        time(milliseconds).replacing(" ", with: "-").replacing(":", with: "")
    }

    /// Like `time(_:)`, but from seconds since 1970.
    static func time(seconds: Int64?) -> String {
        time(seconds.map { $0 * 1000 })
    }

    /// `yes`, `no: offline`, or `yes, without the hub`.
    static func presence(_ device: DeviceSummary) -> String {
        guard device.online else { return "no: \(device.state.rawValue)" }
        return device.local == true ? "yes, without the hub" : "yes"
    }

    /// `view, control`; `all` for no restriction.
    static func actions(_ actions: [DeviceAction]?) -> String {
        guard let actions else { return "all" }
        return actions.isEmpty ? "-" : actions.map(\.rawValue).joined(separator: ", ")
    }

    /// `h264 768x576 10 fps`, `aac 48 kHz mono`
    static func track(_ track: TrackDescription) -> String {
        var words = [track.codec]
        if let width = track.width, let height = track.height { words.append("\(width)x\(height)") }
        if let rate = track.frameRate { words.append("\(number(rate)) fps") }
        if let rate = track.sampleRate { words.append("\(number(Double(rate) / 1000)) kHz") }
        if let channels = track.channels {
            words.append(channels == 1 ? "mono" : channels == 2 ? "stereo" : channels == 6 ? "5.1" : "\(channels) ch")
        }
        return words.joined(separator: " ")
    }

    static func tracks(_ tracks: [TrackDescription]) -> String {
        tracks.isEmpty ? "-" : tracks.map(track).joined(separator: ", ")
    }

    /// `medium, not in 0,0,30,8; by the camera at port 80`; `-` if nobody looks for it.
    static func motion(_ settings: CameraSettings) -> String {
        let box =
            settings.motion == .off
            ? nil : settings.motion.rawValue + (settings.motionIgnore.map { ", not in \($0)" } ?? "")
        let camera = settings.onvifPort.map { "by the camera at port \($0)" }
        let both = [box, camera].compactMap(\.self)
        return both.isEmpty ? "-" : both.joined(separator: "; ")
    }

    /// `recording, 34.2 MB of 2 GB, 30 days`, `paused: error …`; `-` if it is not recorded.
    static func recording(_ recording: CameraRecordingState?, _ settings: CameraSettings = CameraSettings()) -> String {
        guard let recording else { return "-" }
        var text = "\(recording.state.rawValue), \(size(Int(recording.bytes)))"
        if let most = recording.mostBytes { text += " of \(size(Int(most)))" }
        if let days = recording.days { text += days == 1 ? ", 1 day" : ", \(days) days" }
        if settings.recordSound == .off { text += ", no sound" }
        if recording.followsPlan == true {
            text += ", only by ProWritable.recordPlan"
        } else if let times = settings.recordTimes {
            text += ", only \(times)"
        }
        if recording.droppedFragments > 0 { text += ", \(recording.droppedFragments) s lost" }
        return text + (recording.reason.map { ": \($0.error)" } ?? "")
    }

    static func count(_ value: Int?) -> String {
        value.map(String.init) ?? "-"
    }

    /// At most two decimals, without trailing zeros.
    static func number(_ value: Double) -> String {
        let text = String(format: "%.2f", value)
        return text.hasSuffix(".00")
            ? String(text.dropLast(3)) : text.hasSuffix("0") ? String(text.dropLast()) : text
    }
}
