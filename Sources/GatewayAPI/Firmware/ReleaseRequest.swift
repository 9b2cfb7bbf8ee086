public import IoTCore

/// `POST /v1/firmware/releases`
public struct ReleaseRequest: APIRequestBody, Hashable {
    public static let members = ["manifest", "signature"]

    /// The signed text.
    public var manifest: String
    /// The manifest's signature: 64 bytes in base64.
    public var signature: String

    public init(manifest: String, signature: String) {
        self.manifest = manifest
        self.signature = signature
    }
}

/// `GET /v1/firmware/releases`
public struct ReleaseList: Codable, Hashable, Sendable {
    public var releases: [ReleaseDescription]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(releases: [ReleaseDescription], next: String? = nil) {
        self.releases = releases
        self.next = next
    }

    public init(_ page: Page<ReleaseDescription>) {
        self.init(releases: page.elements, next: page.next)
    }
}
