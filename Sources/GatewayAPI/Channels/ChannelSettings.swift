/// `PATCH /v1/channels/{id}`: absent members stay unchanged.
public struct ChannelSettings: APIRequestBody, Hashable {
    public static let members = ["definition", "camera"]
    public static let nullable = ["camera"]

    /// The wanted definitions in order, as in `Definition.list`.
    public var definition: String?
    /// What a live channel shows to the device.
    public var camera: ShownCamera?

    public enum ShownCamera: Hashable, Sendable {
        /// The id or name of one of the gateway's cameras.
        case camera(String)
        /// `null`
        case none
    }

    public init(definition: String? = nil, camera: ShownCamera? = nil) {
        self.definition = definition
        self.camera = camera
    }

    private enum CodingKeys: String, CodingKey {
        case definition, camera
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        definition = try container.decodeIfPresent(String.self, forKey: .definition)
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
    }
}
