public import IoTCore

/// `PATCH /v1/channels/{id}`: absent members stay unchanged.
public struct ChannelSettings: APIRequestBody, Hashable {
    public static let members = ["definition", "camera", "muted", "volume", "rotation", "echo"]
    public static let nullable = ["camera"]

    /// The wanted definitions in order, as in `WantedDefinition.list`.
    public var definition: String?
    /// What a live channel shows to the device.
    public var camera: ShownCamera?
    /// The raw sound is silence.
    public var muted: Bool?
    /// The loudness of the raw sound.
    public var volume: SoundVolume?
    /// How far decoded pictures are turned, anti-clockwise: 0, 90, 180 or 270 degrees.
    public var rotation: Int?
    /// What becomes of the raw sound while this use talks: a value of `EchoTreatment`.
    public var echo: String?

    public enum ShownCamera: Hashable, Sendable {
        /// The id or name of one of the gateway's cameras.
        case camera(String)
        /// `null`
        case none
    }

    public init(
        definition: String? = nil, camera: ShownCamera? = nil, muted: Bool? = nil, volume: SoundVolume? = nil,
        rotation: Int? = nil, echo: EchoTreatment? = nil
    ) {
        self.definition = definition
        self.camera = camera
        self.muted = muted
        self.volume = volume
        self.rotation = rotation
        self.echo = echo?.rawValue
    }

    /// True if nothing is to be changed.
    public var isEmpty: Bool { self == ChannelSettings() }

    private enum CodingKeys: String, CodingKey {
        case definition, camera, muted, volume, rotation, echo
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        definition = try container.decodeDefinitionsIfPresent(forKey: .definition)
        muted = try container.decodeIfPresent(Bool.self, forKey: .muted)
        volume = try container.decodeIfPresent(SoundVolume.self, forKey: .volume)
        rotation = try container.decodeIfPresent(Int.self, forKey: .rotation)
        echo = try container.decodeIfPresent(String.self, forKey: .echo)
        guard container.contains(.camera) else { return }
        camera = try container.decodeIfPresent(String.self, forKey: .camera).map { .camera($0) } ?? ShownCamera.none
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(definition, forKey: .definition)
        switch camera {
        case .camera(let name)?: try container.encode(name, forKey: .camera)
        case ShownCamera.none?: try container.encodeNil(forKey: .camera)
        case nil: break
        }
        try container.encodeIfPresent(muted, forKey: .muted)
        try container.encodeIfPresent(volume, forKey: .volume)
        try container.encodeIfPresent(rotation, forKey: .rotation)
        try container.encodeIfPresent(echo, forKey: .echo)
    }
}
