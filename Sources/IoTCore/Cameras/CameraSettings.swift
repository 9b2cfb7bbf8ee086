/// What a user sets of one camera: in the configuration file, through the API, in `cameras.json`; what the camera runs
/// with. `docs/configuration.md` explains each key.
///
/// A new key is a property here and its row below, its option in `iotctl` (`CameraOptions`), its lines in the
/// documents, and what uses it; tests go through the table.
public struct CameraSettings: Sendable, Hashable {
    /// The device's first name, and its directory's key: another name makes another device. Required.
    @Setting(default: "") public var name: String

    /// An `rtsp://` address or a file's path. Required.
    @Setting(default: "") public var url: String

    /// The user at the RTSP camera.
    public var username: String?

    /// That user's password.
    public var password: String?

    /// A file with that password.
    public var passwordFile: String?

    /// TCP crosses every network and loses nothing.
    @Setting(default: .tcp) public var rtspTransport: RTSPTransport

    /// How many may watch at once; one more gets 20007.
    @Setting(default: 8) public var viewers: Int

    public init(
        name: String? = nil, url: String? = nil, username: String? = nil, password: String? = nil,
        passwordFile: String? = nil, rtspTransport: RTSPTransport? = nil, viewers: Int? = nil
    ) {
        $name.given = name
        $url.given = url
        self.username = username
        self.password = password
        self.passwordFile = passwordFile
        $rtspTransport.given = rtspTransport
        $viewers.given = viewers
    }
}

extension CameraKey {
    /// Every key. The API names them in this order.
    package static let all: [CameraKey] = [
        .text(
            "name", CameraPlace(\.$name), part: .device, traits: .required,
            rule: Rule(
                "must be 1 to 64 bytes of letters, digits, _, - and ., begin with a letter or digit, and not look like "
                    + "an id", DeviceName.isValid)),
        .text("url", CameraPlace(\.$url), form: .source, part: .source, traits: .required),
        .text("username", CameraPlace(\.username), part: .source, traits: [.rtspOnly, .nullable]),
        .text(
            "password", CameraPlace(\.password), part: .source, traits: [.apiOnly, .secret], needs: "username"),
        .text(
            "passwordFile", CameraPlace(\.passwordFile), form: .path, part: .source, traits: .fileOnly,
            needs: "username"),
        .choice(
            "rtspTransport", member: "transport", CameraPlace(\.$rtspTransport), part: .source,
            traits: [.rtspOnly, .shown]),
        .wholeNumber("viewers", CameraPlace(\.$viewers), in: 1...10_000, part: .viewers),
    ]
}
