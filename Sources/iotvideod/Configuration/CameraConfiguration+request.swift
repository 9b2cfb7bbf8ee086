import GatewayAPI
import IoTCore

extension CameraConfiguration {
    /// A camera as the API asks for it, by the same rules as in the configuration.
    ///
    /// - Throws: `.invalidRequest` with the member and the reason.
    init(_ request: CameraRequest) throws(IoTError) {
        guard DeviceName.isValid(request.name) else { throw Self.refusal("name", Self.nameRule) }
        guard CameraRequest.scheme(of: request.url) != nil || request.url.hasPrefix("/") else {
            throw Self.refusal("url", "must be an rtsp:// URL or an absolute path")
        }
        var source: CameraSource
        do throws(IoTError) {
            source = try CameraSource(request.url, relativeTo: "/")
        } catch {
            throw IoTError(.invalidRequest, "url: \(error.message)", remedy: error.specificRemedy)
        }
        guard !source.holdsPassword else { throw Self.refusal("url", CameraRequest.passwordInURL) }
        guard request.password == nil || request.username != nil else {
            throw Self.refusal("password", "needs a username beside it")
        }
        if let username = request.username {
            guard source.kind == .rtsp else { throw Self.refusal("username", "is for rtsp:// only") }
            guard !source.holdsUser else { throw Self.refusal("username", "stands in the URL too") }
            // The list of added cameras is a private file: the credentials may stand in its URL.
            let url = source.url(username: username, password: request.password)
            do throws(IoTError) {
                source = try CameraSource(url, relativeTo: "/")
            } catch {
                throw Self.refusal("username", error.message)
            }
        }
        guard request.transport == nil || source.kind == .rtsp else {
            throw Self.refusal("transport", "is for rtsp:// only")
        }
        guard (1...10_000).contains(request.viewers ?? 8) else {
            throw Self.refusal("viewers", "must be a whole number from 1 to 10000")
        }
        self.init(name: request.name, source: source)
        viewers = request.viewers ?? 8
        rtspTransport = request.transport == .udp ? .udp : .tcp
    }

    /// An added camera as it is to be.
    ///
    /// - Throws: `.invalidRequest` with the member and the reason.
    func applying(_ change: CameraChange) throws(IoTError) -> CameraConfiguration {
        let old = try CameraSource(try openableURL(), relativeTo: "/")
        let apart = old.apart
        var request = CameraRequest(
            name: name, url: change.url ?? apart.url, username: apart.username, password: apart.password,
            transport: change.transport, viewers: change.viewers ?? viewers)
        if let url = change.url {
            let new = try CameraConfiguration(CameraRequest(name: name, url: url)).source
            if new.kind == .file || new.holdsUser { (request.username, request.password) = (nil, nil) }
            // Else whoever may change a camera could have the password, which is told to nobody, sent to any host.
            guard request.username == nil || new.hasHost(of: old) || change.username != .absent else {
                throw Self.refusal(
                    "url",
                    "names another host or port than before: give the user name and the password again, or null as the "
                        + "`username` for none")
            }
            if new.kind == .rtsp { request.transport = change.transport ?? rtspTransport.requested }
        } else if source.kind == .rtsp {
            request.transport = change.transport ?? rtspTransport.requested
        }
        switch change.username {
        case .absent: break
        case .null: (request.username, request.password) = (nil, nil)
        case .value(let username): (request.username, request.password) = (username, nil)
        }
        if let password = change.password { request.password = password }
        return try CameraConfiguration(request)
    }

    private static func refusal(_ member: String, _ reason: String) -> IoTError {
        IoTError(.invalidRequest, "\(member): \(reason)")
    }
}

extension CameraConfiguration.Transport {
    fileprivate var requested: CameraRequest.Transport { self == .udp ? .udp : .tcp }
}
