import Foundation

/// `POST /v1/cameras`: a camera as the configuration file would have it.
public struct CameraRequest: APIRequestBody, Hashable {
    public static let members = ["name", "url", "username", "password", "transport", "viewers", "check"]

    public enum Transport: String, Codable, Hashable, Sendable, CaseIterable {
        case tcp
        case udp
    }

    public var name: String
    /// An absolute path of a file, or an `rtsp` or `file` address.
    public var url: String
    public var username: String?
    /// Kept in a file of mode 0600, and told to nobody.
    public var password: String?
    /// How RTSP carries the media; `tcp` unless told.
    public var transport: Transport?
    /// The most viewers at once; 8 unless told.
    public var viewers: Int?
    /// Adds nothing when the source does not work; not unless told.
    public var check: Bool?

    public init(
        name: String, url: String, username: String? = nil, password: String? = nil, transport: Transport? = nil,
        viewers: Int? = nil, check: Bool? = nil
    ) {
        self.name = name
        self.url = url
        self.username = username
        self.password = password
        self.transport = transport
        self.viewers = viewers
        self.check = check
    }

    /// Why a URL that holds a password is refused, wherever it was given, and where the password goes.
    public static let passwordInURL =
        "the URL holds a password, which others could read there: take the user name and the password out, and give "
        + "them as `username` and `password` in the API, as --username and --password-file to `iotctl camera`, or as "
        + "`username` and `passwordFile` in a configuration file"

    /// Whether the source is a URL that holds a password.
    public static func holdsPassword(_ source: String) -> Bool {
        scheme(of: source) != nil && URLComponents(string: source)?.password != nil
    }

    /// What stands before a colon in a camera's source, as in `rtsp://…` or `exec:…`; `nil` for a file's path. A file
    /// whose name holds a colon is named `./a:b`.
    public static func scheme(of source: String) -> String? {
        let scheme = source.prefix { $0 != ":" && $0 != "/" }
        return source.dropFirst(scheme.count).first == ":" ? scheme.lowercased() : nil
    }
}
