import Foundation
public import IoTCore

/// `POST /v1/cameras`: a camera with the settings of the configuration file.
@dynamicMemberLookup
public struct CameraRequest: APIRequestBody, Hashable {
    private static let keys = CameraKey.all.filter(\.isInAPI)
    public static let members = keys.map(\.member) + ["check"]

    public var settings: CameraSettings
    /// Adds the camera only if the source works. Default false.
    public var check: Bool?

    private enum CodingKeys: String, CodingKey {
        case check
    }

    public init(_ settings: CameraSettings, check: Bool? = nil) {
        self.settings = settings
        self.check = check
    }

    public init(from decoder: any Decoder) throws {
        settings = try CameraSettings(from: decoder, members: Self.keys, isWhole: true)
        check = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Bool.self, forKey: .check)
    }

    public func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder, members: Self.keys)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(check, forKey: .check)
    }

    public subscript<Value>(dynamicMember path: KeyPath<CameraSettings, Value>) -> Value {
        settings[keyPath: path]
    }

    /// Why a URL with a password is refused, and where to put the password instead.
    public static let passwordInURL =
        "the URL contains a password, which others could read there: remove the user name and the password, and give "
        + "them as `username` and `password` in the API, as --username and --password-file to `iotctl camera`, or as "
        + "`username` and `passwordFile` in a configuration file"

    /// Whether the source is a URL with a password.
    public static func holdsPassword(_ source: String) -> Bool {
        scheme(of: source) != nil && URLComponents(string: source)?.password != nil
    }

    /// The text before the first colon of a camera's source, as in `rtsp://…` or `exec:…`; `nil` for a file path. A
    /// file with a colon in its name is written `./a:b`.
    public static func scheme(of source: String) -> String? {
        let scheme = source.prefix { $0 != ":" && $0 != "/" }
        return source.dropFirst(scheme.count).first == ":" ? scheme.lowercased() : nil
    }
}
