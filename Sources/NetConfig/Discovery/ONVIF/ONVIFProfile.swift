/// A media profile: how the camera encodes one of its lenses.
struct ONVIFProfile: Hashable, Sendable {
    var token: String
    var name: String
    /// Which lens.
    var source: String?
    var codec: String?
    var width: Int?
    var height: Int?

    var pixels: Int { (width ?? 0) * (height ?? 0) }

    /// A recorder has some hundred.
    static let maximumCount = 1024

    /// Those of a GetProfilesResponse of either version.
    static func read(_ response: XMLElement) -> [ONVIFProfile] {
        response.children("Profiles").prefix(maximumCount).compactMap { element in
            guard let token = element.attribute("token"), !token.isEmpty, token.utf8.count <= 256 else { return nil }
            let encoder =
                element.child("VideoEncoderConfiguration") ?? element.descendant("Configurations", "VideoEncoder")
            let source =
                element.child("VideoSourceConfiguration") ?? element.descendant("Configurations", "VideoSource")
            let size = encoder?.child("Resolution")
            func pixels(_ name: String) -> Int? {
                (size?.child(name)?.text).flatMap(Int.init).flatMap { (1...32_768).contains($0) ? $0 : nil }
            }
            return ONVIFProfile(
                token: token, name: DeviceText.clean(element.child("Name")?.text ?? token),
                source: source?.child("SourceToken")?.text,
                codec: (encoder?.child("Encoding")?.text).map(DeviceText.clean), width: pixels("Width"),
                height: pixels("Height"))
        }
    }

    /// The stream with the most pixels and the one with the fewest, of the first lens. What iotvideod cannot carry is
    /// taken only when there is nothing else.
    static func choose(_ profiles: [ONVIFProfile]) -> (main: ONVIFProfile, sub: ONVIFProfile?)? {
        guard let first = profiles.first else { return nil }
        let ofLens = profiles.filter { $0.source == first.source }
        let carried = ofLens.filter { $0.codec.map { ["H264", "H265", "HEVC"].contains($0.uppercased()) } ?? true }
        let candidates = carried.isEmpty ? ofLens : carried
        guard let main = candidates.max(by: { $0.pixels < $1.pixels }) else { return nil }
        let sub = candidates.filter { $0.token != main.token && ($0.pixels < main.pixels || main.pixels == 0) }
            .min { $0.pixels < $1.pixels }
        return (main, sub)
    }
}
