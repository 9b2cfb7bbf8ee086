import IoTCore

/// A camera as far as its keys have been read.
struct CameraDraft: Sendable {
    var name: String?
    var source: CameraSource?
    var viewers: Int?
    var rtspTransport: CameraConfiguration.Transport?
    var username: String?
    var passwordFile: String?

    /// The camera, and what is wrong with the keys taken together: key and reason.
    func finish() -> (camera: CameraConfiguration?, problems: [(key: String, reason: String)]) {
        var problems: [(key: String, reason: String)] = []
        if passwordFile != nil, username == nil {
            problems.append(("passwordFile", "needs a username beside it"))
        }
        guard let source else { return (nil, problems) }
        switch source.kind {
        case .rtsp:
            if username != nil, source.holdsUser {
                problems.append(("username", "stands in the URL too; leave one of them out"))
            }
        case .file:
            for (key, isSet) in [("rtspTransport", rtspTransport != nil), ("username", username != nil)] where isSet {
                problems.append((key, "is for rtsp:// only"))
            }
        }
        guard let name else { return (nil, problems) }
        var camera = CameraConfiguration(name: name, source: source)
        if let viewers { camera.viewers = viewers }
        if let rtspTransport { camera.rtspTransport = rtspTransport }
        camera.username = username
        camera.passwordFile = passwordFile
        return (camera, problems)
    }
}
