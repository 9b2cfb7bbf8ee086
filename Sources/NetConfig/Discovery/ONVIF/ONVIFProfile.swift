/// A media profile: the encoding of one of the camera's lenses.
struct ONVIFProfile: Hashable, Sendable {
    var token: String
    var name: String
    /// The lens.
    var source: String?
    var codec: String?
    var width: Int?
    var height: Int?

    var pixels: Int { (width ?? 0) * (height ?? 0) }

    /// Recorders have some hundred profiles.
    static let maximumCount = 1024

    /// The profiles with video in a GetProfilesResponse.
    static func read(_ response: XMLElement) -> [ONVIFProfile] {
        response.children("Profiles").prefix(maximumCount).compactMap { element in
            guard let token = element.attribute("token"), !token.isEmpty, token.utf8.count <= 256 else { return nil }
            let encoder = element.child("VideoEncoderConfiguration")
            let size = encoder?.child("Resolution")
            func pixels(_ name: String) -> Int? {
                (size?.child(name)?.text).flatMap(Int.init).flatMap { (1...32_768).contains($0) ? $0 : nil }
            }
            return ONVIFProfile(
                token: token, name: DeviceText.clean(element.child("Name")?.text ?? token),
                source: element.descendant("VideoSourceConfiguration", "SourceToken")?.text,
                codec: (encoder?.child("Encoding")?.text).map(DeviceText.clean), width: pixels("Width"),
                height: pixels("Height"))
        }
    }

    /// The streams with the most and the fewest pixels, of the first lens. Codecs that iotvideod does not support are
    /// chosen only if there are no others.
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
