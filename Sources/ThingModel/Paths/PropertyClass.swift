/// The six classes of a thing model.
public enum PropertyClass: String, Sendable, Codable, CaseIterable, Comparable {
    /// What the device is; it reports these at its start.
    case constant = "ProConst"
    /// What the device measures or does; only it changes them.
    case readonly = "ProReadonly"
    /// What users set; stored by the hub, delivered to the device.
    case writable = "ProWritable"
    /// What the device can be told to do; each has a `ProReadonly` twin of the same name and type.
    case action = "Action"
    /// What happens at the device; the document keeps the last occurrence of each.
    case event = "Event"
    /// What users note about the device; the device never sees them.
    case user = "ProUser"

    /// The attribute that holds the value; `nil` for `ProConst`, whose value stands unwrapped.
    public var valueKey: String? {
        switch self {
        case .constant: nil
        case .readonly, .event: "stVal"
        case .writable: "setVal"
        case .action: "ctlVal"
        case .user: "val"
        }
    }

    /// The class that a path begins with. In bytes: a combining mark after the '.' must not hide it.
    public init?(ofPath path: String) {
        self.init(rawValue: String(decoding: path.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self))
    }

    public static func < (left: PropertyClass, right: PropertyClass) -> Bool {
        left.rawValue < right.rawValue
    }
}
