import GatewayAPI
import IoTCore

extension CameraSettings {
    /// Checks a camera of an API request by the same rules as in the configuration.
    ///
    /// - Returns: the camera as it is stored.
    /// - Throws: `.invalidRequest` with the member and the reason.
    func checked() throws(IoTError) -> CameraSettings {
        if let problem = refusedValues.first { throw problem.refusal }
        let source = try Self.source(of: url, "url")
        if let problem = conflicts(with: source).first { throw problem.refusal }
        var camera = self
        (camera.username, camera.password, camera.passwordFile) = (nil, nil, nil)
        camera.url = source.url
        camera.certificate = CameraTrust(checked: certificate).text
        for (definition, place) in Self.definitionSources {
            guard let url = self[keyPath: place] else { continue }
            camera[keyPath: place] = try Self.source(of: url, definition.rawValue + "Url").url
        }
        camera.sources = try sources.flatMap { SourceList($0) }?.map { url throws(IoTError) in
            try Self.source(of: url, "sources").url
        }
        guard let username else { return camera }
        // The file of added cameras is private, so the stored URL may contain the credentials.
        do throws(IoTError) {
            camera.url = try CameraSource(source.url(username: username, password: password), relativeTo: "/").url
        } catch {
            throw Self.refusal("username", error.message)
        }
        return camera
    }

    /// An added camera with the change applied.
    ///
    /// - Throws: `.invalidRequest` with the member and the reason.
    func applying(_ change: CameraChange) throws(IoTError) -> CameraSettings {
        let old = try openable().source
        let new = try change.$url.given.map { url throws(IoTError) in try Self.source(of: url, "url") }
        var asked = self
        (asked.url, asked.username, asked.password) = old.apart
        asked.passwordFile = nil
        let kind = (new ?? old).kind
        for key in CameraKey.all {
            let only = key.needs == "username" ? .rtsp : key.traits.onlyKind
            if let only, only != kind { key.clear(&asked) }
        }
        if let new {
            if new.holdsUser { (asked.username, asked.password) = (nil, nil) }
            // Otherwise, anyone who may change a camera could have its password, which the API never returns, sent to
            // any host.
            guard asked.username == nil || new.mayHaveLogin(of: old) || change.username != nil || change.removesUser
            else {
                throw Self.refusal(
                    "url",
                    "names another host or port than before, or is not encrypted any more: send the user name and the password again, or a null "
                        + "`username` for no login")
            }
        }
        for key in CameraKey.all where change.removed.contains(key.member) { key.clear(&asked) }
        if change.username != nil || change.removesUser { (asked.username, asked.password) = (nil, nil) }
        asked.apply(change.settings)
        if change.certificate == nil {
            let isElsewhere = !asked.encryptedHosts.isSubset(of: encryptedHosts)
            if isElsewhere { asked.certificate = asked.trust.forAnotherHost.text }
            if !asked.hasEncryptedSource { asked.certificate = nil }
        }
        return try asked.checked()
    }

    /// The source of a request's URL: an absolute path, a file URL, or an RTSP URL without a password.
    private static func source(of url: String, _ member: String) throws(IoTError) -> CameraSource {
        guard CameraRequest.scheme(of: url) != nil || url.isAbsolutePath else {
            throw refusal(
                member, "must be an rtsp://, rtsps:// or file:// URL, v4l2: and a device's path, or an absolute path")
        }
        let source: CameraSource
        do throws(IoTError) {
            source = try CameraSource(url, relativeTo: "/")
        } catch {
            throw IoTError(.invalidRequest, "\(member): \(error.message)", remedy: error.specificRemedy)
        }
        guard !source.holdsPassword else { throw refusal(member, CameraRequest.passwordInURL) }
        return source
    }

    private static func refusal(_ member: String, _ reason: String) -> IoTError {
        IoTError(.invalidRequest, "\(member): \(reason)")
    }
}

extension CameraSettings.Problem {
    fileprivate var refusal: IoTError {
        IoTError(.invalidRequest, "\(key.member): \(reason)")
    }
}
