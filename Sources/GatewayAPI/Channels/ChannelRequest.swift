public import IoTCore

/// `POST /v1/channels`: connects to a device and gets its tracks. Media start with `play`.
public struct ChannelRequest: APIRequestBody, Hashable {
    public static let members = ["device", "source", "kind", "definition", "camera"]

    /// A device's id or name.
    public var device: String
    public var source: ChannelSource
    /// The kind of the channel: `monitor`, `live`, `playback` or `transmission`.
    public var kind: String
    /// The wanted definitions in order, as in `WantedDefinition.list`; `high` if it is absent.
    public var definition: String?
    /// The id or name of one of the gateway's cameras, which a live channel shows to the device.
    public var camera: String?

    public init(
        device: String, source: ChannelSource = .main, kind: ChannelKind = .monitor, definition: String? = nil,
        camera: String? = nil
    ) {
        self.device = device
        self.source = source
        self.kind = kind.name
        self.definition = definition
        self.camera = camera
    }

    private enum CodingKeys: String, CodingKey {
        case device, source, kind, definition, camera
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        device = try container.decode(String.self, forKey: .device)
        source = try container.decodeIfPresent(ChannelSource.self, forKey: .source) ?? .main
        kind = try container.decodeIfPresent(String.self, forKey: .kind) ?? ChannelKind.monitor.name
        definition = try container.decodeDefinitionsIfPresent(forKey: .definition)
        camera = try container.decodeIfPresent(String.self, forKey: .camera)
    }

    /// `nil` if `kind` is not a known name.
    public var channelKind: ChannelKind? {
        ChannelKind.allCases.first { $0.name == kind }
    }
}
