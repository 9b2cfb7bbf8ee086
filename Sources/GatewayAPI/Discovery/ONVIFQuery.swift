/// `POST /v1/onvif-queries`: requests the streams of an ONVIF camera.
public struct ONVIFRequest: APIRequestBody, Hashable {
    public static let members = ["url", "username", "password", "certificate"]

    /// The URL of its device service: `http://HOST[:PORT]/onvif/device_service`, or `https`.
    public var url: String
    public var username: String?
    /// Requires `username`.
    public var password: String?
    /// The SHA-256 fingerprint of the camera's certificate, in hexadecimal digits, or `any`; requires `https`.
    public var certificate: String?

    public init(url: String, username: String? = nil, password: String? = nil, certificate: String? = nil) {
        self.url = url
        self.username = username
        self.password = password
        self.certificate = certificate
    }
}

/// The data about the camera from its answers.
public struct ONVIFReport: Codable, Hashable, Sendable {
    public struct Stream: Codable, Hashable, Sendable {
        /// `rtsp[s]://…`, without a password.
        public var url: String
        public var name: String
        /// The codec's name in ONVIF: `H264`.
        public var codec: String?
        public var width: Int?
        public var height: Int?

        public init(url: String, name: String, codec: String? = nil, width: Int? = nil, height: Int? = nil) {
            self.url = url
            self.name = name
            self.codec = codec
            self.width = width
            self.height = height
        }
    }

    public var manufacturer: String?
    public var model: String?
    public var version: String?
    public var serialNumber: String?
    public var main: Stream
    /// The smallest stream of the same lens, if it has several.
    public var sub: Stream?

    public init(
        manufacturer: String? = nil, model: String? = nil, version: String? = nil, serialNumber: String? = nil,
        main: Stream, sub: Stream? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.version = version
        self.serialNumber = serialNumber
        self.main = main
        self.sub = sub
    }
}
