import IoTCore

extension CameraSettings {
    var source: CameraSource { CameraSource(checked: url) }

    /// The settings for opening the camera, with the credentials in the URL where the source needs them.
    ///
    /// - Throws: `.fileFailed` or `.invalidConfiguration` if the password file cannot be used.
    func openable() throws(IoTError) -> CameraSettings {
        var camera = self
        if let username {
            let password = try passwordFile.map { path throws(IoTError) in try SecretFile.read(path) }
            camera.url = source.url(username: username, password: password)
            (camera.username, camera.passwordFile) = (nil, nil)
        }
        // Another host must not get this camera's password.
        let main = camera.source
        guard let username = main.apart.username else { return camera }
        for (_, place) in Self.definitionSources {
            guard let other = camera[keyPath: place].map({ CameraSource(checked: $0) }), !other.holdsUser,
                other.mayHaveLogin(of: main)
            else { continue }
            camera[keyPath: place] = other.url(username: username, password: main.apart.password)
        }
        camera.sources = sources.flatMap { SourceList($0) }?.map { url in
            let other = CameraSource(checked: url)
            guard !other.holdsUser, other.mayHaveLogin(of: main) else { return url }
            return other.url(username: username, password: main.apart.password)
        }
        return camera
    }

    /// Keys that conflict with each other or with the source. Without a source, only the former.
    func conflicts(with source: CameraSource?) -> [Problem] {
        var problems = conflicts(with: source?.kind)
        if username != nil, source?.holdsUser == true, let key = CameraKey.named("username") {
            problems.append(Problem(key: key, reason: "is in the URL too; leave one of them out"))
        }
        return problems
    }
}
