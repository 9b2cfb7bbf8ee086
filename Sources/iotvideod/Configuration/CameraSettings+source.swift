import IoTCore

extension CameraSettings {
    var source: CameraSource { CameraSource(checked: url) }

    /// As to be opened: with the credentials in the URL that the source wants.
    ///
    /// - Throws: `.fileFailed` or `.invalidConfiguration` when the password's file cannot be used.
    func openable() throws(IoTError) -> CameraSettings {
        guard let username else { return self }
        let password = try passwordFile.map { path throws(IoTError) in try SecretFile.read(path) }
        var camera = self
        camera.url = source.url(username: username, password: password)
        (camera.username, camera.passwordFile) = (nil, nil)
        return camera
    }

    /// Keys that do not go together, or not with the source; without one, what can be said without it.
    func conflicts(with source: CameraSource?) -> [Problem] {
        var problems = conflicts(isFile: source?.kind == .file)
        if username != nil, source?.holdsUser == true, let key = CameraKey.named("username") {
            problems.append(Problem(key: key, reason: "stands in the URL too; leave one of them out"))
        }
        return problems
    }
}
