/// The picture formats of a snapshot.
public enum SnapshotFormat: String, Codable, Hashable, Sendable, CaseIterable {
    case jpeg
    case png

    public var contentType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        }
    }

    /// The format for a file name's extension: `.jpg`, `.jpeg`, `.png`; `nil` for others.
    public init?(fileName: String) {
        let name = fileName.lowercased()
        if name.hasSuffix(".jpg") || name.hasSuffix(".jpeg") {
            self = .jpeg
        } else if name.hasSuffix(".png") {
            self = .png
        } else {
            return nil
        }
    }
}
