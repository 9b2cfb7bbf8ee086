/// `PATCH /v1/channels/{id}`
public struct ChannelSettings: APIRequestBody, Hashable {
    public static let members = ["definition"]

    /// The wanted definitions in order, as in `Definition.list`.
    public var definition: String

    public init(definition: String) {
        self.definition = definition
    }
}
