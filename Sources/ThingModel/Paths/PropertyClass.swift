/// The six classes of a thing model.
public enum PropertyClass: String, Sendable, Codable, CaseIterable, Comparable {
    /// Facts about the device. It reports them when it starts.
    case constant = "ProConst"
    /// Measurements and states. Only the device changes them.
    case readonly = "ProReadonly"
    /// Settings from users. The hub stores them and delivers them to the device.
    case writable = "ProWritable"
    /// Actions of the device. Each has a twin: a `ProReadonly` property of the same name and type.
    case action = "Action"
    /// Events of the device. The document keeps the last occurrence of each.
    case event = "Event"
    /// Users' notes about the device. The device does not get them.
    case user = "ProUser"

    /// The attribute that holds the value; `nil` for `ProConst`, which holds the value directly.
    public var valueKey: String? {
        switch self {
        case .constant: nil
        case .readonly, .event: "stVal"
        case .writable: "setVal"
        case .action: "ctlVal"
        case .user: "val"
        }
    }

    /// The class at the start of a path. Compares bytes: as a `Character`, a '.' with a combining mark would not be
    /// recognized.
    public init?(ofPath path: String) {
        self.init(rawValue: String(decoding: path.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self))
    }

    public static func < (left: PropertyClass, right: PropertyClass) -> Bool {
        left.rawValue < right.rawValue
    }
}
