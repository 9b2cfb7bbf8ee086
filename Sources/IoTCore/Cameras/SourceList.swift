/// Further sources of a camera, each a camera of its own behind one device, as behind a video recorder: the key `sources`
/// of its settings. The first one is source 1, because the camera's `url` is source 0.
package struct SourceList: Hashable, Sendable {
    /// The form of the key.
    package static let requirement =
        "must be 1 to \(most) sources separated by spaces: rtsp:// or rtsps:// URLs, or files, with %20 for a space"

    /// Sources have the numbers 0 to 255.
    private static let most = 255
    private static let longest = 65_536

    package let urls: [String]

    /// - Parameter text: the URLs, separated by spaces; `nil` for anything else.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        let urls = text.split(separator: " ").map(String.init)
        guard (1...Self.most).contains(urls.count), urls.allSatisfy({ !$0.lowercased().hasPrefix("v4l2:") }) else {
            return nil
        }
        self.urls = urls
    }

    /// Each URL through `change`.
    package func map<Failure: Error>(_ change: (String) throws(Failure) -> String) throws(Failure) -> String {
        var changed: [String] = []
        for url in urls { changed.append(try change(url)) }
        return changed.joined(separator: " ")
    }
}
