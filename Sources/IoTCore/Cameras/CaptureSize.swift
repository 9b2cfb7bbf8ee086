/// The maximum size of a V4L2 camera's pictures, in pixels. The device's largest size that fits is used.
public enum CaptureSize: String, Sendable, Codable, CaseIterable {
    case quarterVGA = "320x240"
    case vga = "640x480"
    case superVGA = "800x600"
    case hd = "1280x720"
    case fullHD = "1920x1080"
    case quadHD = "2560x1440"
    case ultraHD = "3840x2160"

    public var width: Int { sides.first ?? 0 }
    public var height: Int { sides.last ?? 0 }

    private var sides: [Int] { rawValue.split(separator: "x").compactMap { Int($0) } }
}
